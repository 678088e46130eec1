// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers of NumPy in a file of torch.save, as their pickles are spelled.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/tensors/tensor_file.h>

#include "support/files.h"
#include "tensors/pickle_bytes.h"

namespace {

using hesscope::io::FileValue;
using hesscope::io::open_tensor_file;
using hesscope::io::TensorFile;
using hesscope::test::bytes_of;
using hesscope::test::dict;
using hesscope::test::pickle;
using hesscope::test::ScratchFolder;
using hesscope::test::text;
using hesscope::test::two_doubles;
using hesscope::test::write_torch;
using ::testing::IsEmpty;

// numpy.core.multiarray.scalar(dtype, bytes), as torch.save pickles np.float64(0.01).
std::string numpy_scalar(const std::string& type,
                         const std::string& bytes,
                         const std::string& order = "<",
                         const std::string& module = "numpy.core.multiarray",
                         const std::string& of_state = "NNN") {
  const std::string dtype = "cnumpy\ndtype\n(" + text(type) + "\x89\x88tR(K\x03" + text(order) +
                            of_state + "J\xff\xff\xff\xffJ\xff\xff\xff\xffK" +
                            std::string(1, '\0') + "tb";
  return "c" + module + "\nscalar\n(" + dtype + bytes + "tR";
}

// Bytes as protocol 2 has them.
std::string latin1(const std::string& characters) {
  return "c_codecs\nencode\n(" + text(characters) + text("latin1") + "tR";
}

// SHORT_BINBYTES of protocol 3.
std::string raw(const std::string& bytes) {
  return "C" + std::string(1, static_cast<char>(bytes.size())) + bytes;
}

std::string eight(double value) { return bytes_of({value}); }

TEST(TorchReader, ReadsNumbersOfNumPy) {
  const ScratchFolder scratch;
  const std::string no = std::string(7, '\0');
  const std::string five = "\x05" + no;
  std::string four(4, '\0');
  four[3] = '\x40';
  write_torch(
      scratch / "numpy.pt",
      pickle(dict({{"w", two_doubles()},
                   {"lr", numpy_scalar("f8", raw(eight(0.01)))},
                   {"new", numpy_scalar("f8", raw(eight(-3)), "<", "numpy._core.multiarray")},
                   {"single", numpy_scalar("f4", raw(four))},
                   {"half", numpy_scalar("f2", raw(std::string("\0\x3c", 2)))},
                   {"step", numpy_scalar("i8", latin1(five))},
                   {"big", numpy_scalar("i8", raw(no + "\x05"), ">")},
                   {"high", numpy_scalar("u1", latin1("\xC3\xBF"), "|")},
                   {"low", numpy_scalar("i1", raw("\xff"), "|")},
                   {"widest", numpy_scalar("u8", raw(std::string(8, '\xff')))},
                   {"best", numpy_scalar("b1", raw("\x01"), "|")}})));
  const TensorFile file = open_tensor_file(scratch / "numpy.pt");
  const std::vector<FileValue> expected = {{"lr", 0.01},
                                           {"new", -3.0},
                                           {"single", 2.0},
                                           {"half", 1.0},
                                           {"step", std::int64_t{5}},
                                           {"big", std::int64_t{5}},
                                           {"high", std::int64_t{255}},
                                           {"low", std::int64_t{-1}},
                                           {"widest", 0x1p64},
                                           {"best", true}};
  EXPECT_EQ(file.values(), expected);
  EXPECT_EQ(file.number("step"), 5);
  EXPECT_EQ(file.number("lr"), 0.01);
  EXPECT_EQ(file.number("best"), 1);
}

TEST(TorchReader, TakesNothingElseForANumberOfNumPy) {
  const ScratchFolder scratch;
  const std::string seven = std::string(7, '\x01');
  const std::vector<std::string> all = {
      numpy_scalar("f8", raw(seven)),                                                // too short
      numpy_scalar("f4", raw(seven + "\x01")),                                       // too long
      numpy_scalar("f8", latin1("\xC4\x80" + seven)),                                // no byte
      numpy_scalar("f8", latin1(seven + "\xC3")),                                    // no text
      numpy_scalar("c8", raw(seven + "\x01")),                                       // complex
      numpy_scalar("M8", raw(seven + "\x01")),                                       // a date
      numpy_scalar("f8", raw(seven + "\x01"), "?"),                                  // of no order
      numpy_scalar("f8", raw(seven + "\x01"), "<", "os"),                            // not NumPy's
      numpy_scalar("f8", raw(seven + "\x01"), "<", "numpy.core.multiarray", "N)N"),  // with parts
      numpy_scalar("b1", raw("\x02"), "|"),
      numpy_scalar("f8", text("12345678")),
      "cnumpy.core.multiarray\nscalar\n)R",
      "cnumpy.core.multiarray\nscalar\n(NNtR",
      "cnumpy.core.multiarray\nscalar\n(cnumpy\ndtype\n(" + text("f8") + "\x89\x88tR" +
          raw(seven + "\x01") + "tR",  // a dtype without a state
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    SCOPED_TRACE(i);
    write_torch(scratch / "odd.pt", pickle(dict({{"w", two_doubles()}, {"x", all[i]}})));
    const TensorFile file = open_tensor_file(scratch / "odd.pt");
    EXPECT_EQ(file.number("x"), std::nullopt);
    for (const FileValue& value : file.values()) EXPECT_NE(value.name, "x");
    EXPECT_THAT(file.unreadable(), IsEmpty());
  }
}

}  // namespace
