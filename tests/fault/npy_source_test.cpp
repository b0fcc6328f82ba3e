#include "harmonia/data/npy_source.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "support/expect_error.hpp"
#include "support/npy_bytes.hpp"
#include "support/temporary_file.hpp"

namespace harmonia {
namespace {

using test::npy_bytes;
using test::npy_header;
using test::raw_bytes;

// Opens and reads everything; `message` stands behind the file's path.
void expect_fault(const std::string& bytes, const std::string& message, const DataOptions& options = {},
                  ErrorCode code = ErrorCode::input) {
  const test::TemporaryFile file("rows.npy", bytes);
  test::expect_error(code, file.path() + message, [&] {
    const auto source = open_npy(file.path(), options);
    RowBlock block;
    while (source->read(block, 2)) {
    }
  });
}

TEST(NpyFault, NoNpyFile) {
  expect_fault("", " is empty");
  expect_fault("PK\3\4 and more", " is not an NPY file: it does not begin with \\x93NUMPY");
  expect_fault("\x93NUM", " ends within its header");
  expect_fault(std::string("\x93NUMPY\1\0\x10", 9), " ends within its header");
  expect_fault(std::string("\x93NUMPY\2\0\x10\0\0", 11), " ends within its header");
  expect_fault(npy_bytes(npy_header("<f8", "(1,)"), "").substr(0, 40), " ends within its header");
  expect_fault(std::string("\x93NUMPY\4\0\x10\0", 10), " has NPY version 4.0; versions 1, 2 and 3 are known");
  expect_fault(std::string("\x93NUMPY\2\0\xff\xff\xff\xff", 12),
               " has a header of 4294967295 bytes; expected at most 1 MiB");
  const test::TemporaryFolder folder;
  const std::string path = folder / "rows.npy";
  test::expect_error(ErrorCode::input, path + ": no such file", [&] { open_npy(path, {}); });
  std::filesystem::create_directory(path);
  test::expect_error(ErrorCode::input, path + " is a directory; expected a file",
                     [&] { open_npy(path, {}); });
  test::expect_error(ErrorCode::input, "/dev/null is not a plain file", [&] { open_npy("/dev/null", {}); });
}

TEST(NpyFault, HeadersThatAreNotNumPys) {
  for (const char* header :
       {"garbage", "{}", "{'descr': '<f8', 'fortran_order': False}",
        "{'descr': '<f8', 'fortran_order': 0, 'shape': (1,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': [1]}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1", "{'descr': '<f8', 'more': 1}",
        "{'descr': '<f8", "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': 3}"}) {
    const std::string text = std::string(header) + " ";
    const std::string shown = text.size() <= 60 ? text : std::string(header).substr(0, 60) + "…";
    expect_fault(npy_bytes(header, "12345678"), " has a header that is not NumPy's: '" + shown + "'");
  }
  expect_fault(npy_bytes("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}", "12345678"),
               " holds a structured type; expected plain numbers");
}

TEST(NpyFault, TypesThatAreNoNumbers) {
  for (const char* descr : {"|O", "<U3", "|S8", "<c16", "<f16", "<M8[ns]", "f3", ""}) {
    expect_fault(
        npy_bytes(npy_header(descr, "(1,)"), "12345678"),
        " holds numbers of type '" + std::string(descr) + "'; expected f2, f4, f8, i1 to i8, u1 to u8 or b1");
  }
}

TEST(NpyFault, Shapes) {
  expect_fault(npy_bytes(npy_header("<f8", "()"), "12345678"),
               " holds a single number, of shape (); expected rows");
  expect_fault(npy_bytes(npy_header("<f8", "(0, 3)"), ""), " has no rows: its shape is (0, 3)");
  expect_fault(npy_bytes(npy_header("<f8", "(0,)"), ""), " has no rows: its shape is (0,)");
  expect_fault(npy_bytes(npy_header("<f8", "(3, 0)"), ""), " has no columns: its shape is (3, 0)");
  expect_fault(npy_bytes(npy_header("|u1", "(1, 2, 2)", true), "1234"),
               " has shape (1, 2, 2) in Fortran order; expected C order for more than two dimensions");
  expect_fault(npy_bytes(npy_header("<f8", "(3, 4)"), std::string(90, '\0')),
               " holds 90 bytes of data; its shape (3, 4) of type '<f8' takes 96");
  expect_fault(npy_bytes(npy_header("<f8", "(3, 4)"), std::string(97, '\0')),
               " holds 97 bytes of data; its shape (3, 4) of type '<f8' takes 96");
  expect_fault(npy_bytes(npy_header("<f8", "(2,)"), "1"),
               " holds 1 byte of data; its shape (2,) of type '<f8' takes 16");
  expect_fault(npy_bytes(npy_header("<f8", "(4294967296, 4294967296)"), ""),
               " has shape (4294967296, 4294967296), which is too large");
  expect_fault(npy_bytes(npy_header("|u1", "(18446744073709551615,)"), ""),
               " has shape (18446744073709551615,), which is too large");
  expect_fault(npy_bytes(npy_header("<f8", "(18446744073709551616,)"), ""), " has a shape that is too large");
  expect_fault(npy_bytes(npy_header("|u1", "(1, 16777217)"), std::string((1U << 24U) + 1, '\0')),
               " has 16777217 columns; expected at most 16777216");
}

TEST(NpyFault, NumbersThatADoubleDoesNotHold) {
  const double inf = std::numeric_limits<double>::infinity();
  expect_fault(npy_bytes(npy_header("<f8", "(3, 2)"), raw_bytes<double>({1, 2, 3, 4, 5, -inf}, '<')),
               " row 2, column 1 is infinite");
  expect_fault(npy_bytes(npy_header("<f8", "(3, 2)", true), raw_bytes<double>({1, 2, inf, 4, inf, 6}, '<')),
               " row 1, column 1 is infinite");
  expect_fault(npy_bytes(npy_header(">f4", "(2,)"),
                         raw_bytes<float>({1, std::numeric_limits<float>::infinity()}, '>')),
               " row 1, column 0 is infinite");
  expect_fault(npy_bytes(npy_header("<f2", "(1,)"), raw_bytes<std::uint16_t>({0xfc00}, '<')),
               " row 0, column 0 is infinite");
  expect_fault(npy_bytes(npy_header("<i8", "(3,)"), raw_bytes<std::int64_t>({1, 2, -9007199254740993}, '<')),
               " row 2, column 0: -9007199254740993 has more digits than a double keeps");
  expect_fault(npy_bytes(npy_header("<u8", "(1, 2)"), raw_bytes<std::uint64_t>({1, ~0ULL}, '<')),
               " row 0, column 1: 18446744073709551615 has more digits than a double keeps");
}

TEST(NpyFault, Columns) {
  const std::string bytes = npy_bytes(npy_header("|u1", "(1, 2)"), "12");
  expect_fault(bytes, " has no column '2'; it has x0, x1", {.columns = {"2"}}, ErrorCode::usage);
  expect_fault(bytes, " has no column 'age'; it has x0, x1", {.id = "age"}, ErrorCode::usage);
}

TEST(NpyFault, AFileThatShrinks) {
  const test::TemporaryFile file("rows.npy", npy_bytes(npy_header("|u1", "(4,)"), "1234"));
  const auto source = open_npy(file.path(), {});
  std::filesystem::resize_file(file.path(), std::filesystem::file_size(file.path()) - 1);
  RowBlock block;
  test::expect_error(ErrorCode::input, file.path() + " became shorter while it was read",
                     [&] { source->read(block, 10); });
}

}  // namespace
}  // namespace harmonia
