#include "harmonia/data/image_source.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/temporary_file.hpp"

namespace harmonia {
namespace {

namespace fs = std::filesystem;

// A folder of images that are one colour each.
class Photos {
 public:
  void add(const std::string& name, float value, std::size_t channels = 1) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    const ImageShape shape{2, 3, channels};
    write(name, encode_png({shape, std::vector<float>(shape.values(), value)}));
  }
  void write(const std::string& name, const std::string& bytes) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << bytes;
  }
  std::string path(const std::string& name = "") const { return folder_ / ("photos/" + name); }
  std::string beside(const std::string& name) const { return folder_ / name; }

 private:
  test::TemporaryFolder folder_;
};

DataOptions of_size(std::size_t height, std::size_t width, std::size_t channels) {
  DataOptions options;
  options.image = {height, width, channels};
  return options;
}

std::string fault_of(const std::string& spec, const DataOptions& options) {
  try {
    RowBlock block;
    open_data(spec, options)->read(block, 100);
    return "no error";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(ImageFolder, ClassFoldersAreLabels) {
  const Photos photos;
  photos.add("dog/b.png", 20);
  photos.add("dog/a.png", 10);
  photos.add("cat/c.png", 30);
  photos.write("cat/notes.txt", "no image");
  photos.write(".hidden/x.png", "no image");
  const auto data = open_data(photos.path(), of_size(2, 2, 1));
  EXPECT_EQ(data->info().inputs, 4U);
  EXPECT_EQ(data->info().rows, 3U);
  EXPECT_EQ(data->info().image, (ImageShape{2, 2, 1}));
  RowBlock block;
  ASSERT_TRUE(data->read(block, 2));
  EXPECT_EQ(block.ids, (std::vector<std::string>{"cat/c.png", "dog/a.png"}));
  EXPECT_EQ(block.labels, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(block.values.row(0)[3], 30);
  EXPECT_EQ(block.values.row(1)[0], 10);
  ASSERT_TRUE(data->read(block, 2));
  EXPECT_EQ(block.first, 2U);
  EXPECT_EQ(block.ids, (std::vector<std::string>{"dog/b.png"}));
  EXPECT_FALSE(data->read(block, 2));
  data->rewind();
  ASSERT_TRUE(data->read(block, 100));
  EXPECT_EQ(block.values.rows(), 3U);
}

TEST(ImageFolder, OneRowOneFileAndSegments) {
  const Photos photos;
  photos.add("cat/c.png", 30);
  photos.add("dog/a.png", 10);
  RowBlock block;
  open_data(photos.path() + "#1", of_size(1, 1, 3))->read(block, 9);
  EXPECT_EQ(block.number(0), 1U);
  EXPECT_EQ(block.values.row(0)[2], 10);
  open_data(photos.path("dog/a.png"), of_size(1, 1, 1))->read(block, 9);
  EXPECT_EQ(block.ids, (std::vector<std::string>{"a.png"}));
  DataOptions by = of_size(1, 1, 1);
  by.by = "label";
  open_data(photos.path(), by)->read(block, 9);
  EXPECT_EQ(block.segments, (std::vector<std::string>{"cat", "dog"}));
}

TEST(ImageFolder, LabelsFile) {
  const Photos photos;
  photos.add("a.png", 1);
  photos.add("b.jpeg", 2);  // what it is is seen from its bytes
  std::ofstream(photos.beside("l.csv")) << "file,label\nb.jpeg,dog\na.png,cat\n";
  DataOptions options = of_size(1, 1, 1);
  options.labels = photos.beside("l.csv");
  RowBlock block;
  open_data(photos.path(), options)->read(block, 9);
  EXPECT_EQ(block.labels, (std::vector<std::string>{"cat", "dog"}));
}

TEST(ImageFolder, Faults) {
  const Photos photos;
  fs::create_directories(photos.path());
  const std::string folder = photos.path();
  EXPECT_EQ(fault_of(folder, of_size(1, 1, 1)),
            folder + " has no images; expected PNG or JPEG files, or a sub-folder of them for each class");
  fs::create_directories(photos.path("cat"));
  EXPECT_EQ(fault_of(folder, of_size(1, 1, 1)),
            photos.path("cat") + " has no images; expected PNG or JPEG files in every class's folder");
  photos.add("cat/a.png", 1);
  photos.write("cat/b.png", "hello");
  EXPECT_EQ(fault_of(folder, of_size(1, 1, 1)),
            photos.path("cat/b.png") + ": not an image; expected a PNG or JPEG file");
  EXPECT_EQ(fault_of(folder, {}),
            folder +
                ": images have to come to one size; expected a description beside the model "
                "(net.image.json of net.onnx), --description FILE, or --size HEIGHTxWIDTH");
  DataOptions options = of_size(1, 1, 1);
  options.columns = {"a"};
  EXPECT_EQ(fault_of(folder, options), "--columns names a column of a table; " + folder +
                                           " are images (--labels FILE has their labels)");
  options = of_size(1, 1, 1);
  options.labels = photos.beside("l.csv");
  std::ofstream(options.labels) << "cat/a.png,x\n";
  EXPECT_EQ(fault_of(folder, options), folder + " has 'cat/b.png', which " + options.labels +
                                           " does not name; expected a label for every image");
  std::ofstream(options.labels) << "cat/a.png,x\ncat/b.png,y\ncat/c.png,z\n";
  EXPECT_EQ(fault_of(folder, options), options.labels + " names 'cat/c.png', which " + folder +
                                           " does not have; expected labels of its images alone");
  std::ofstream(options.labels) << "cat/a.png,x,1\n";
  EXPECT_EQ(fault_of(folder, options), options.labels + " line 1 has 3 fields; expected file,label");
}

std::string idx(const std::string& sizes, const std::string& bytes, char dimensions) {
  return std::string("\0\0\x08", 3) + dimensions + sizes + bytes;
}

TEST(Idx, ImagesAndLabels) {
  using namespace std::string_literals;
  const test::TemporaryFile images("images-idx3-ubyte",
                                   idx("\0\0\0\x02\0\0\0\x01\0\0\0\x02"s, "\x01\xff\x03\x04"s, '\x03'));
  const test::TemporaryFile labels("labels-idx1-ubyte", idx("\0\0\0\x02"s, "\x07\xc8"s, '\x01'));
  DataOptions options;
  options.labels = labels.path();
  const auto data = open_data(images.path(), options);
  EXPECT_EQ(data->info().image, (ImageShape{1, 2, 1}));
  EXPECT_EQ(data->info().rows, 2U);
  RowBlock block;
  ASSERT_TRUE(data->read(block, 10));
  EXPECT_EQ(block.values.row(0)[1], 255);
  EXPECT_EQ(block.values.row(1)[0], 3);
  EXPECT_EQ(block.labels, (std::vector<std::string>{"7", "200"}));
  EXPECT_FALSE(data->read(block, 10));
  // Brought to another size and to colour.
  open_data(images.path(), of_size(2, 4, 3))->read(block, 1);
  EXPECT_EQ(block.values.columns(), 24U);
  EXPECT_EQ(block.values.row(0)[0], 1);
  EXPECT_EQ(block.values.row(0)[23], 255);
}

TEST(Idx, Faults) {
  using namespace std::string_literals;
  const test::TemporaryFile images("images-idx3-ubyte",
                                   idx("\0\0\0\x02\0\0\0\x01\0\0\0\x02"s, "\x01\xff\x03\x04"s, '\x03'));
  const auto fault = [](const std::string& bytes) {
    const test::TemporaryFile file("x-idx3-ubyte", bytes);
    const std::string message = fault_of(file.path(), {});
    return message.starts_with(file.path()) ? message.substr(file.path().size()) : message;
  };
  EXPECT_EQ(fault("x"), " is too short; expected an IDX file of bytes in three dimensions");
  EXPECT_EQ(fault("\x1f\x8b"s + std::string(30, 'x')),
            " is compressed by gzip; unpack it first: expected an IDX file of bytes in three dimensions");
  EXPECT_EQ(fault(idx("\0\0\0\x02"s, std::string(20, 'x'), '\x01')),
            " is of another kind; expected an IDX file of bytes in three dimensions");
  EXPECT_EQ(fault(idx("\0\0\0\x02\0\0\0\x01\0\0\0\x02"s, "abc", '\x03')),
            " holds 3 bytes; its header says 4");
  EXPECT_EQ(fault(idx("\0\0\0\0\0\0\0\x01\0\0\0\x02"s, "", '\x03')), " has no entries");
  EXPECT_NE(fault(idx(std::string(12, '\xff'), "abc", '\x03')).find(" holds 3 bytes; its header says "),
            std::string::npos);
  const test::TemporaryFile labels("labels-idx1-ubyte", idx("\0\0\0\x03"s, "abc"s, '\x01'));
  DataOptions options;
  options.labels = labels.path();
  EXPECT_EQ(fault_of(images.path(), options),
            labels.path() + " has 3 labels; " + images.path() + " has 2 images");
}

}  // namespace
}  // namespace harmonia
