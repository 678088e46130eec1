// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/dataset/result_file.h>
#include <hesscope/dataset/result_reader.h>

#include "dataset/sample_result.h"
#include "support/files.h"
#include "support/refusal.h"

namespace hesscope::io {
namespace {

using test::matrix_slice;
using test::message_of;
using test::ramp_slice;
using test::ScratchFolder;
using test::span;
using test::spec;
using test::write_sample;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ResultReader, ListsGroupsDimensionsAndVariables) {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "sample.h5";
  write_sample(path);
  const ResultReader reader(path);
  ASSERT_EQ(reader.groups().size(), 3U);
  const Group& root = reader.groups()[0];
  EXPECT_EQ(root.name, "");
  ASSERT_EQ(root.dimensions.size(), 4U);
  EXPECT_EQ(root.dimensions[0].name, "checkpoint");
  EXPECT_EQ(root.dimensions[0].size, 2U);
  EXPECT_FALSE(root.dimensions[0].has_coordinate);
  const Group& landscape = reader.groups()[2];
  EXPECT_EQ(landscape.name, "landscape");
  ASSERT_EQ(landscape.dimensions.size(), 1U);
  EXPECT_TRUE(landscape.dimensions[0].has_coordinate);

  const Variable* matrix = reader.find("hessian", "matrix");
  ASSERT_NE(matrix, nullptr);
  EXPECT_EQ(matrix->type, VariableType::kDouble);
  EXPECT_THAT(matrix->dimensions, ElementsAre("checkpoint", "parameter", "parameter_column"));
  EXPECT_THAT(matrix->shape, ElementsAre(2U, 3U, 4U));
  EXPECT_EQ(matrix->units, "1");
  const Variable* status = reader.find("landscape", "loss_status");
  ASSERT_NE(status, nullptr);
  EXPECT_THAT(status->flag_meanings, ElementsAre("ok", "not_computed", "non_finite"));
  const Variable* loss = reader.find("", "loss");
  ASSERT_NE(loss, nullptr);
  EXPECT_EQ(loss->definition, "mean of (f - y)^2");
  EXPECT_THAT(loss->references,
              ElementsAre("A. Author (1999), A title", "B. Author & C. Author (2001), Another"));
  EXPECT_EQ(loss->ancillary_variables, "scalar");
  EXPECT_EQ(reader.find("", "nosuch"), nullptr);
  EXPECT_EQ(reader.find_attribute("", "nosuch"), nullptr);
  EXPECT_EQ(std::get<std::int64_t>(*reader.find_attribute("", "seed")), 7);
  EXPECT_EQ(std::get<std::int8_t>(*reader.find_attribute("", "complete")), 1);
  EXPECT_EQ(std::get<double>(*reader.find_attribute("", "tolerance")), 0.125);
  EXPECT_EQ(std::get<std::string>(*reader.find_attribute("", "blank")), "");
  EXPECT_EQ(std::get<std::string>(*reader.find_attribute("", "problem")).size(), 100'000U);
  EXPECT_THAT(std::get<std::vector<double>>(*reader.find_attribute("hessian", "rounding")),
              ElementsAre(1.5, -2.5));
}

TEST(ResultReader, ReadsValuesOfEachType) {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "sample.h5";
  write_sample(path);
  const ResultReader reader(path);
  EXPECT_THAT(reader.read_integers("", "step"), ElementsAre(0, 250));
  EXPECT_THAT(reader.read_integers("landscape", "loss_status"), ElementsAre(0, 1, 2, -1, -1, -1));
  EXPECT_THAT(reader.read_text("", "checkpoint_file"),
              ElementsAre("step-0.npz", "Pfad/sch\u00f6n.npz"));
  EXPECT_THAT(reader.read_text("landscape", "label"),
              ElementsAre("a", "", "\u03b1\u03b2", "", "", ""));
  EXPECT_THAT(reader.read_doubles("", "scalar"), ElementsAre(2.5));
  EXPECT_THAT(reader.read_doubles("", "empty"), IsEmpty());
  EXPECT_EQ(reader.read_double_slice("hessian", "matrix", 0), matrix_slice(0));
  EXPECT_EQ(reader.read_double_slice("hessian", "ramp", 1), ramp_slice(1));
  EXPECT_THAT(message_of<InputError>([&] { reader.read_doubles("", "step"); }),
              AllOf(HasSubstr("sample.h5"), HasSubstr("'/step'"), HasSubstr("another type")));
  EXPECT_THAT(message_of<InputError>([&] { reader.read_doubles("", "los"); }),
              AllOf(HasSubstr("'/los'"), HasSubstr("did you mean 'loss'")));
}

TEST(ResultReader, TellsResultsFromOtherFiles) {
  const ScratchFolder folder;
  write_sample(folder / "sample.h5");
  test::write_bytes(folder / "text", "not HDF5");
  EXPECT_TRUE(is_result_file(folder / "sample.h5"));
  EXPECT_FALSE(is_result_file(folder / "text"));
  EXPECT_FALSE(is_result_file(folder / "nosuch"));
  EXPECT_FALSE(is_result_file(folder.path()));
  EXPECT_FALSE(is_result_file(test::fixtures() / "signal-noise" / "step-000000.h5"));
  EXPECT_THAT(message_of<InputError>([&] { ResultReader reader(folder / "text"); }),
              AllOf(HasSubstr("text"), HasSubstr("not an HDF5 file")));
  EXPECT_THAT(message_of<InputError>([&] { ResultReader reader(folder / "nosuch"); }),
              HasSubstr("no such file"));
}

/// Open in another program that writes, as HDF5 locks it.
class WriterOf {
 public:
  explicit WriterOf(const std::filesystem::path& path)
      : descriptor_(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {
    EXPECT_EQ(::flock(descriptor_, LOCK_EX | LOCK_NB), 0);
  }

  ~WriterOf() { ::close(descriptor_); }

  WriterOf(const WriterOf&) = delete;
  WriterOf& operator=(const WriterOf&) = delete;

 private:
  int descriptor_;
};

TEST(ResultReader, DoesNotTellWhetherWhatIsBeingWrittenIsAResult) {
  const ScratchFolder folder;
  write_sample(folder / "sample.h5");
  std::filesystem::copy(test::fixtures() / "signal-noise" / "step-000000.h5", folder / "other.h5");
  for (const char* name : {"sample.h5", "other.h5"}) {
    const WriterOf writer(folder / name);
    EXPECT_THAT(message_of<InputError>([&] { is_result_file(folder / name); }),
                AllOf(HasSubstr(name), HasSubstr("another program has it open for writing")));
  }
  EXPECT_TRUE(is_result_file(folder / "sample.h5"));
  EXPECT_FALSE(is_result_file(folder / "other.h5"));
}

/// 20 MiB of zeros, like the statuses of a good result, together with `num_others` numbers that do
/// not compress.
void write_zeros(const std::filesystem::path& path, std::size_t num_others) {
  constexpr std::size_t kZeros = 20 << 20;
  ResultFile file(path, {});
  file.define_dimension("", "sample", kZeros);
  file.define_dimension("", "other", num_others);
  file.define_variable("", spec("status", VariableType::kInt8, {"sample"}));
  file.define_variable("", spec("others", VariableType::kDouble, {"other"}));
  std::vector<double> others(num_others);
  std::uint64_t state = 1;
  for (double& value : others) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    value = static_cast<double>(state >> 11) * 0x1p-53;
  }
  file.write("", "status", span(std::vector<std::int8_t>(kZeros)));
  file.write("", "others", span(others));
  file.commit();
}

TEST(ResultReader, ReadsWhatCompressesWellInAFileThatIsLargeEnough) {
  const ScratchFolder folder;
  write_zeros(folder / "good", 1 << 16);
  const ResultReader good(folder / "good");
  const std::vector<std::int64_t> status = good.read_integers("", "status");
  EXPECT_EQ(status.size(), std::size_t{20} << 20);
  EXPECT_TRUE(std::ranges::all_of(status, [](std::int64_t value) { return value == 0; }));
  write_zeros(folder / "bomb", 10);
  const ResultReader bomb(folder / "bomb");
  EXPECT_EQ(bomb.read_doubles("", "others").size(), 10U);
  EXPECT_THAT(message_of<InputError>([&] { bomb.read_integers("", "status"); }),
              AllOf(HasSubstr("variable '/status': declares 20971520 bytes but stores only"),
                    HasSubstr("more than 100 times is refused as a decompression bomb")));
}

TEST(ResultReader, RefusesEveryTruncation) {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "sample.h5";
  write_sample(path);
  const std::string intact = test::read_bytes(path);
  for (std::size_t size = 0; size < intact.size(); size += intact.size() / 40) {
    test::write_bytes(path, intact.substr(0, size));
    EXPECT_THROW(ResultReader{path}, InputError) << size << " bytes";
  }
}

TEST(ResultReader, RefusesAllOnceItWasMovedFrom) {
  const ScratchFolder folder;
  write_sample(folder / "sample.h5");
  ResultReader first(folder / "sample.h5");
  const auto refused = [&first](const auto& action) {
    test::expect_refusal<PreconditionError>([&] { action(first); }, "moved from");
  };
  const ResultReader second(std::move(first));
  EXPECT_NE(second.find("", "loss"), nullptr);
  refused([](const ResultReader& reader) { reader.path(); });
  refused([](const ResultReader& reader) { reader.groups(); });
  refused([](const ResultReader& reader) { reader.find("", "loss"); });
  refused([](const ResultReader& reader) { reader.find_attribute("", "title"); });
  refused([](const ResultReader& reader) { reader.read("", "loss"); });
  refused([](const ResultReader& reader) { reader.read_doubles("", "loss"); });
  refused([](const ResultReader& reader) { reader.read_double_slice("", "loss", 0); });
  refused([](const ResultReader& reader) { reader.read_integers("", "step"); });
  refused([](const ResultReader& reader) { reader.read_text("", "checkpoint_file"); });
}

}  // namespace
}  // namespace hesscope::io
