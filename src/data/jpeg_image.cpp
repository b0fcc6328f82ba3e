#include <fmt/format.h>

#include <array>
#include <csetjmp>
#include <cstdio>
#include <vector>
// After <cstdio>, which it does not include.
#include <jpeglib.h>
// After <jpeglib.h>, whose version says which messages there are.
#include <jerror.h>

#include "harmonia/core/text.hpp"
#include "image_file.hpp"

namespace harmonia {
namespace {

// A file of more passes is made to waste time: real ones have some ten.
constexpr int kMostScans = 200;

// What libjpeg's callbacks see; its first member is what libjpeg is given.
struct JpegErrors {
  jpeg_error_mgr manager{};
  std::jmp_buf back{};
  std::array<char, JMSG_LENGTH_MAX> message{};
};

// libjpeg asks that this does not return. It jumps over C code alone: no object with a destructor lives
// between read_jpeg's setjmp and the calls below it.
[[noreturn]] void leave(j_common_ptr info) {
  auto* errors = reinterpret_cast<JpegErrors*>(info->err);
  errors->manager.format_message(info, errors->message.data());
  std::longjmp(errors->back, 1);
}

// Missing data is a fault here; libjpeg would fill it in with grey and go on.
void on_message(j_common_ptr info, int level) {
  if (level < 0 && (info->err->msg_code == JWRN_JPEG_EOF || info->err->msg_code == JWRN_HIT_MARKER ||
                    info->err->msg_code == JWRN_HUFF_BAD_CODE)) {
    leave(info);
  }
}

void no_output(j_common_ptr /*info*/) {}

void on_progress(j_common_ptr info) {
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > kMostScans) {
    info->err->msg_code = JERR_BAD_PROGRESSION;
    leave(info);
  }
}

struct JpegFrame {
  jpeg_decompress_struct jpeg{};
  JpegErrors errors;
  jpeg_progress_mgr progress{};

  JpegFrame() {
    jpeg.err = jpeg_std_error(&errors.manager);
    errors.manager.error_exit = leave;
    errors.manager.emit_message = on_message;
    errors.manager.output_message = no_output;
    progress.progress_monitor = on_progress;
  }
  ~JpegFrame() { jpeg_destroy_decompress(&jpeg); }
  JpegFrame(const JpegFrame&) = delete;
  JpegFrame& operator=(const JpegFrame&) = delete;
};

// False after an error, whose message is in the frame.
bool read_header(JpegFrame& frame, std::string_view bytes) {
  if (setjmp(frame.errors.back) != 0) return false;
  jpeg_create_decompress(&frame.jpeg);
  frame.jpeg.progress = &frame.progress;
  jpeg_mem_src(&frame.jpeg, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&frame.jpeg, TRUE);
  return true;
}

// Writes the rows one after the other. False after an error.
bool read_rows(JpegFrame& frame, unsigned char* out, std::size_t stride) {
  if (setjmp(frame.errors.back) != 0) return false;
  jpeg_start_decompress(&frame.jpeg);
  while (frame.jpeg.output_scanline < frame.jpeg.output_height) {
    unsigned char* row = out + frame.jpeg.output_scanline * stride;
    jpeg_read_scanlines(&frame.jpeg, &row, 1);
  }
  jpeg_finish_decompress(&frame.jpeg);
  return true;
}

}  // namespace

bool is_jpeg(std::string_view bytes) { return bytes.starts_with("\xff\xd8\xff"); }

Image decode_jpeg(std::string_view bytes, const std::string& path, std::size_t most_pixels) {
  JpegFrame frame;
  const auto broken = [&] {
    image_fault(path, fmt::format("the JPEG file is cut short or damaged ({})",
                                  sentence(frame.errors.message.data())));
  };
  if (!read_header(frame, bytes)) broken();
  check_pixels(path, frame.jpeg.image_width, frame.jpeg.image_height, most_pixels);
  const J_COLOR_SPACE space = frame.jpeg.jpeg_color_space;
  if (space == JCS_CMYK || space == JCS_YCCK) {
    image_fault(path, "the JPEG file has printing colours (CMYK); expected grey or RGB: convert it first");
  }
  const bool grey = space == JCS_GRAYSCALE;
  frame.jpeg.out_color_space = grey ? JCS_GRAYSCALE : JCS_RGB;
  Image image{{frame.jpeg.image_height, frame.jpeg.image_width, grey ? std::size_t{1} : std::size_t{3}}, {}};
  std::vector<unsigned char> samples(image.shape.values());
  if (!read_rows(frame, samples.data(), image.shape.width * image.shape.channels)) broken();
  image.values.assign(samples.begin(), samples.end());
  return image;
}

}  // namespace harmonia
