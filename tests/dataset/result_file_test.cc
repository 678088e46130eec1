// SPDX-License-Identifier: BSD-3-Clause
//
// Result files as others see them. The readers are h5py, netCDF4, xarray (both engines), ncdump and
// NCO, driven by foreign_readers.py; our own reader is compared with values stated here.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

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

using test::files_in;
using test::fill_sample;
using test::message_of;
using test::ScratchFolder;
using test::span;
using test::spec;
using test::write_sample;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ForeignReader : public ::testing::TestWithParam<const char*> {};

TEST_P(ForeignReader, SeesEveryValueDimensionAndAttribute) {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "sample.h5";
  write_sample(path);
  const std::filesystem::path script =
      std::filesystem::path(HESSCOPE_TEST_FIXTURES) / "../dataset/foreign_readers.py";
  const std::string log = folder / "log";
  const std::string command = std::string(HESSCOPE_TEST_PYTHON) + " '" + script.string() + "' " +
                              GetParam() + " '" + path.string() + "' > '" + log + "' 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << test::read_bytes(log);
}

INSTANTIATE_TEST_SUITE_P(
    ResultFile,
    ForeignReader,
    ::testing::Values(
        "h5py", "netcdf4", "xarray-netcdf4", "xarray-h5netcdf", "ncdump", "nco", "edit"),
    [](const auto& parameter) {
      std::string name = parameter.param;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST(ResultFile, TakesAttributesOfVariablesThatAreDefined) {
  const ScratchFolder folder;
  ResultFile file(folder / "out.h5");
  file.define_dimension("", "row", 2);
  file.define_dimension("group", "column", 3);
  file.define_variable("group", spec("table", VariableType::kDouble, {"row", "column"}));
  EXPECT_THAT(file.shape_of("group", "table"), ElementsAre(2, 3));
  file.set_variable_attribute("group", "table", {"ancillary_variables", "other"});
  EXPECT_THAT(message_of<OutputError>([&] {
                file.set_variable_attribute("", "table", {"a", "b"});
              }),
              HasSubstr("variable '/table': it has not been defined"));
  EXPECT_THAT(message_of<OutputError>([&] {
                file.set_variable_attribute("group", "table", {"CLASS", "b"});
              }),
              HasSubstr("reserved"));
  EXPECT_THAT(message_of<OutputError>([&] { file.shape_of("group", "row"); }),
              HasSubstr("it has not been defined"));
  file.commit();
  const ResultReader reader(folder / "out.h5");
  EXPECT_EQ(reader.find("group", "table")->ancillary_variables, "other");
}

TEST(ResultFile, WritesWholeGroups) {
  const ScratchFolder folder;
  Group group{.name = "g",
              .attributes = {{"note", "n"}},
              .dimensions = {{.name = "run", .size = 2, .labels = {"a", "b"}},
                             {.name = "seed", .size = 1, .numbers = {7}},
                             {.name = "bare", .size = 2}}};
  Variable loss = spec("loss", VariableType::kDouble, {"run", "bare"});
  loss.values = std::vector<double>{1, 2, 3, 4};
  Variable flag = spec("flag", VariableType::kInt8, {"run"});
  flag.values = std::vector<std::int8_t>{-1, 2};
  group.add(loss);
  group.add(flag);
  ResultFile file(folder / "out.h5");
  file.set_attribute("", {"hesscope_schema_version", std::string(kResultSchemaVersion)});
  file.write(group);
  file.commit();
  const ResultReader reader(folder / "out.h5");
  EXPECT_EQ(*reader.find_attribute("g", "note"), AttributeValue("n"));
  EXPECT_EQ(reader.read("g", "run").values, Values(std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(reader.read("g", "seed").values, Values(std::vector<std::int64_t>{7}));
  EXPECT_EQ(reader.read("g", "flag").values, flag.values);
  const Variable found = reader.read("g", "loss");
  EXPECT_EQ(found.values, loss.values);
  EXPECT_THAT(found.dimensions, ElementsAre("run", "bare"));
  EXPECT_THAT(found.shape, ElementsAre(2, 2));
}

TEST(ResultFile, LeavesWhatIsMissingToTheFillValue) {
  const ScratchFolder folder;
  Group group{.name = "g"};
  group.add(spec("there", VariableType::kDouble, {}));
  group.add(spec("missing", VariableType::kDouble, {}));
  group["there"].set(2.5);
  group.set_rest_missing(Status::kNotComputed);
  ResultFile file(folder / "out.h5");
  file.set_attribute("", {"hesscope_schema_version", std::string(kResultSchemaVersion)});
  file.write(group);
  file.commit();
  const ResultReader reader(folder / "out.h5");
  EXPECT_EQ(reader.read("g", "there").number(), 2.5);
  EXPECT_TRUE(std::isnan(reader.read("g", "missing").number()));
}

TEST(ResultFile, SameCallsGiveTheSameBytes) {
  const ScratchFolder folder;
  write_sample(folder / "a.h5");
  // Stale memory must not show up in the second file.
  { const std::vector<char> dirt(std::size_t{1} << 20, '\x5a'); }
  write_sample(folder / "b.h5");
  const std::string bytes = test::read_bytes(folder / "a.h5");
  EXPECT_GT(bytes.size(), 10'000U);
  EXPECT_TRUE(bytes == test::read_bytes(folder / "b.h5"));
}

TEST(ResultFile, LeavesNothingWithoutCommit) {
  const ScratchFolder folder;
  {
    ResultFile file(folder / "out.h5");
    fill_sample(file);
    EXPECT_EQ(files_in(folder.path()).size(), 1U);
    EXPECT_FALSE(std::filesystem::exists(folder / "out.h5"));
  }
  EXPECT_THAT(files_in(folder.path()), IsEmpty());
}

TEST(ResultFile, MovedFromObjectLeavesTheFileToTheNewOne) {
  const ScratchFolder folder;
  {
    ResultFile first(folder / "out.h5");
    const auto refused = [&first](const auto& action) {
      test::expect_refusal<PreconditionError>([&] { action(first); }, "moved from");
    };
    ResultFile second(std::move(first));
    second.set_attribute("", {"title", "moved"});
    second.commit();
    refused([](ResultFile& file) { file.commit(); });
    refused([](ResultFile& file) { file.set_attribute("", {"title", "moved"}); });
    refused([](ResultFile& file) { file.set_variable_attribute("", "x", {"title", "moved"}); });
    refused([](ResultFile& file) { file.shape_of("", "x"); });
    refused([](ResultFile& file) { file.define_dimension("", "x", 1); });
    refused([](ResultFile& file) { file.define_variable("", {.name = "x"}); });
    refused([](ResultFile& file) { file.write("", "x", span<double>({1})); });
    refused([](ResultFile& file) { file.write_slice("", "x", 0, span<double>({1})); });
  }
  EXPECT_THAT(files_in(folder.path()), ElementsAre("out.h5"));
}

TEST(ResultFile, RefusesToReplaceUnlessAskedTo) {
  const ScratchFolder folder;
  test::write_bytes(folder / "out.h5", "precious");
  EXPECT_THAT(message_of<OutputError>([&] { ResultFile file(folder / "out.h5"); }),
              AllOf(HasSubstr("out.h5"),
                    HasSubstr("exists already"),
                    HasSubstr("replace it by `Existing::kReplace`")));
  EXPECT_EQ(test::read_bytes(folder / "out.h5"), "precious");

  ResultFile file(folder / "out.h5", {.existing = Existing::kReplace});
  fill_sample(file);
  EXPECT_EQ(test::read_bytes(folder / "out.h5"), "precious");
  file.commit();
  EXPECT_TRUE(is_result_file(folder / "out.h5"));
  EXPECT_THAT(files_in(folder.path()), ElementsAre("out.h5"));
}

TEST(ResultFile, DoesNotReplaceAFileThatAppearedMeanwhile) {
  const ScratchFolder folder;
  ResultFile file(folder / "out.h5");
  fill_sample(file);
  test::write_bytes(folder / "out.h5", "precious");
  EXPECT_THAT(message_of<OutputError>([&] { file.commit(); }), HasSubstr("exists already"));
  EXPECT_EQ(test::read_bytes(folder / "out.h5"), "precious");
  EXPECT_THAT(files_in(folder.path()), ElementsAre("out.h5"));
}

TEST(ResultFile, TwoWritersOfOneProcessDoNotMeet) {
  const ScratchFolder folder;
  ResultFile first(folder / "out.h5", {.existing = Existing::kReplace});
  ResultFile second(folder / "out.h5", {.existing = Existing::kReplace});
  second.set_attribute("", {"title", "second"});
  first.set_attribute("", {"title", "first"});
  first.commit();
  second.commit();
  const ResultReader reader(folder / "out.h5");
  const AttributeValue* version = reader.find_attribute("", "title");
  ASSERT_NE(version, nullptr);
  EXPECT_EQ(std::get<std::string>(*version), "second");
}

TEST(ResultFile, RefusesAMissingFolderAndAFolderAsDestination) {
  const ScratchFolder folder;
  EXPECT_THAT(message_of<OutputError>([&] { ResultFile file(folder / "no/out.h5"); }),
              AllOf(HasSubstr("no/out.h5"), HasSubstr("does not exist")));
  EXPECT_THAT(message_of<OutputError>(
                  [&] { ResultFile file(folder.path(), {.existing = Existing::kReplace}); }),
              HasSubstr("not a regular file"));
}

TEST(ResultFile, RefusesAReadOnlyFolder) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const ScratchFolder folder;
  std::filesystem::permissions(
      folder.path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  EXPECT_THAT(message_of<OutputError>([&] { ResultFile file(folder / "out.h5"); }),
              AllOf(HasSubstr("out.h5"), HasSubstr("Permission denied")));
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
}

TEST(ResultFile, RefusesCallsThatDoNotFitAndNamesTheObject) {
  const ScratchFolder folder;
  ResultFile file(folder / "out.h5");
  fill_sample(file);
  const auto expect =
      [&](const auto& action, const std::string& object, const std::string& reason) {
        EXPECT_THAT(message_of<OutputError>(action),
                    AllOf(HasSubstr("out.h5"), HasSubstr(object), HasSubstr(reason)));
      };
  const auto define = [&](const Variable& s) {
    return [&file, s] { file.define_variable("", s); };
  };
  using enum VariableType;
  expect([&] { file.write("", "nosuch", span<double>({1})); }, "'/nosuch'", "not been defined");
  expect(
      [&] {
        file.write("", "step", span<double>({1, 2}));
      },
      "'/step'",
      "holds int64, got float64");
  expect(
      [&] {
        file.write("", "loss", span<double>({1, 2, 3}));
      },
      "'/loss'",
      "3 values for the shape (2,)");
  expect([&] { file.write_slice("", "loss", 2, span<double>({1})); }, "'/loss'", "no slice 2");
  expect([&] { file.write_slice("", "scalar", 0, span<double>({1})); }, "'/scalar'", "no slice 0");
  expect(
      [&] {
        file.write("", "checkpoint_file", span<std::string>({"a", "\xe9t\xe9"}));
      },
      "'/checkpoint_file'",
      "UTF-8");
  expect(
      [&] {
        file.write("", "checkpoint_file", span<std::string>({"a", std::string(1, '\0')}));
      },
      "'/checkpoint_file'",
      "NUL");
  expect(define(spec("loss", kDouble, {"checkpoint"})), "'/loss'", "taken by a variable");
  expect(define(spec("hessian", kDouble, {"checkpoint"})), "'/hessian'", "taken by a group");
  expect(define(spec("x", kDouble, {"checkpiont"})), "'/x'", "did you mean 'checkpoint'");
  expect(define(spec("x", kDouble, {"alpha"})), "'/x'", "no dimension 'alpha'");
  expect(define(spec("parameter", kDouble, {"checkpoint"})),
         "'/parameter'",
         "must have that one dimension");
  expect(define(spec("a/b", kDouble, {})), "'/a/b'", "no netCDF name");
  Variable flags = spec("x", kDouble, {"checkpoint"});
  flags.flag_meanings = {"ok"};
  expect(define(flags), "'/x'", "int8");
  flags.type = kInt8;
  flags.flag_meanings = {"saddle", "local minimum"};
  expect(define(flags), "'/x'", "'local minimum' must be one word");
  flags.flag_meanings = {"saddle", ""};
  expect(define(flags), "'/x'", "meaning of 1 is empty");
  flags.flag_meanings = {"saddle", "flat", "saddle"};
  expect(define(flags), "'/x'", "'saddle' is there twice");
  Variable latin1 = spec("x", kDouble, {"checkpoint"});
  latin1.long_name = "\xe9t\xe9";
  expect(define(latin1), "attribute 'long_name'", "UTF-8");
  expect(
      [&] { file.define_dimension("", "checkpoint", 9); }, "'/checkpoint'", "taken by a dimension");
  expect([&] { file.define_dimension("", "loss", 9); }, "'/loss'", "taken by a variable");
  expect([&] { file.define_dimension("", Dimension{.name = "short", .size = -1}); },
         "dimension '/short'",
         "must not be negative, got -1");
  expect([&] { file.set_attribute("loss", {"a", 1.0}); }, "'/loss'", "taken by a variable");
  expect([&] { file.set_attribute("", {"_NCProperties", "x"}); }, "_NCProperties", "reserved");
  expect([&] { file.set_attribute("", {"", 1.0}); }, "group '/'", "no netCDF name");

  // None of it did any harm.
  file.commit();
  EXPECT_THAT(ResultReader(folder / "out.h5").read_doubles("", "scalar"), ElementsAre(2.5));
  EXPECT_EQ(ResultReader(folder / "out.h5").find("", "x"), nullptr);
  expect([&] { file.write("", "scalar", span<double>({1})); }, "out.h5", "after commit()");
  expect([&] { file.commit(); }, "out.h5", "after commit()");
}

TEST(ResultFile, StoresSlicesBeyondOneChunk) {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "out.h5";
  constexpr std::uint64_t kRows = 410;
  constexpr std::uint64_t kColumns = 400;  // 1.25 MiB a slice
  std::vector<double> slice(kRows * kColumns);
  for (std::size_t i = 0; i < slice.size(); ++i) slice[i] = static_cast<double>(i);
  {
    ResultFile file(path);
    file.define_dimension("", "checkpoint", 2);
    file.define_dimension("", "row", kRows);
    file.define_dimension("", "column", kColumns);
    file.define_variable("",
                         spec("matrix", VariableType::kDouble, {"checkpoint", "row", "column"}));
    file.write_slice("", "matrix", 1, span(slice));
    file.commit();
  }
  const ResultReader reader(path);
  EXPECT_EQ(reader.read_double_slice("", "matrix", 1), slice);
  const std::vector<double> unwritten = reader.read_double_slice("", "matrix", 0);
  ASSERT_EQ(unwritten.size(), slice.size());
  for (const double value : unwritten) ASSERT_TRUE(std::isnan(value));
  EXPECT_THAT(message_of<InputError>([&] { reader.read_double_slice("", "matrix", 2); }),
              HasSubstr("no slice 2"));
  EXPECT_THAT(message_of<InputError>([&] { reader.read_double_slice("", "matrix", UINT64_MAX); }),
              HasSubstr("no slice 18446744073709551615"));
}

}  // namespace
}  // namespace hesscope::io
