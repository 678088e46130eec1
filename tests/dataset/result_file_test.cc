// SPDX-License-Identifier: BSD-3-Clause
//
// Result files as others see them. The readers are h5py, netCDF4, xarray (both engines), ncdump and
// NCO, driven by foreign_readers_test.py; our own reader is compared with values stated here.
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/dataset/result_file.h>
#include <hesscope/dataset/result_reader.h>

#include "support/files.h"

namespace hesscope::io {
namespace {

using test::ScratchFolder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// 2 x 3 x 4, different in every direction: 100 k + 10 i + j + 1/2.
std::vector<double> matrix_slice(int k) {
  std::vector<double> values;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) values.push_back(100 * k + 10 * i + j + 0.5);
  }
  if (k == 1) values.back() = kNaN;
  return values;
}

/// Beyond 4 KiB in all, so it goes through the filters.
std::vector<double> ramp_slice(int k) {
  std::vector<double> values;
  for (int i = 0; i < 3000; ++i) values.push_back(k + i / 1024.0);
  return values;
}

Variable spec(const std::string& name, VariableType type, std::vector<std::string> dimensions) {
  return {.name = name,
          .type = type,
          .dimensions = std::move(dimensions),
          .long_name = name,
          .definition = ""};
}

template <typename T>
std::span<const T> span(const std::vector<T>& values) {
  return values;
}

/// The file that foreign_readers_test.py expects.
void fill_sample(ResultFile& file) {
  file.set_attribute("", {"hesscope_schema_version", "1.0.0"});
  file.set_attribute("", {"title", "to be replaced"});
  file.set_attribute("", {"title", "sample"});
  file.set_attribute("", {"seed", std::int64_t{7}});
  file.set_attribute("", {"complete", std::int8_t{1}});
  file.set_attribute("", {"tolerance", 0.125});
  file.set_attribute("", {"blank", ""});
  file.set_attribute("", {"place", "Z\u00fcrich"});
  file.set_attribute("", {"problem", std::string(100'000, 'x')});
  file.set_attribute("hessian", {"rounding", std::vector<double>{1.5, -2.5}});
  file.set_attribute("hessian", {"codes", std::vector<std::int8_t>{0, 1, -1}});

  file.define_dimension("", "checkpoint", 2);
  file.define_dimension("", "parameter", 3);
  file.define_dimension("", "parameter_column", 4);
  file.define_dimension("", "none", 0);
  file.define_dimension("hessian", "long", 3000);
  file.define_dimension("landscape", "alpha", 3);

  // Before its coordinate variable: the order of definitions is free.
  Variable status = spec("loss_status", VariableType::kInt8, {"checkpoint", "alpha"});
  status.flag_meanings = {"ok", "not_computed", "non_finite"};
  file.define_variable("landscape", status);
  file.define_variable("landscape", spec("alpha", VariableType::kDouble, {"alpha"}));
  file.define_variable("landscape", spec("label", VariableType::kText, {"checkpoint", "alpha"}));
  file.define_variable("", spec("checkpoint_file", VariableType::kText, {"checkpoint"}));
  file.define_variable("", spec("step", VariableType::kInt64, {"checkpoint"}));
  Variable loss = spec("loss", VariableType::kDouble, {"checkpoint"});
  loss.definition = "mean of (f - y)^2";
  loss.references = {"A. Author (1999), A title", "B. Author & C. Author (2001), Another"};
  loss.ancillary_variables = "scalar";
  file.define_variable("", loss);
  file.define_variable("", spec("scalar", VariableType::kDouble, {}));
  file.define_variable("", spec("empty", VariableType::kDouble, {"none"}));
  Variable matrix =
      spec("matrix", VariableType::kDouble, {"checkpoint", "parameter", "parameter_column"});
  matrix.coordinates = {"place"};
  file.define_variable("hessian", matrix);
  // Coordinates of the group alone: one is named as a dimension of the root.
  file.define_variable("hessian", spec("place", VariableType::kInt64, {"checkpoint"}));
  file.define_variable("hessian", spec("parameter", VariableType::kText, {"parameter"}));
  file.define_variable("hessian", spec("ramp", VariableType::kDouble, {"checkpoint", "long"}));
  file.define_variable("hessian", spec("unwritten", VariableType::kInt64, {"checkpoint"}));

  file.write("", "step", span<std::int64_t>({0, 250}));
  file.write("hessian", "place", span<std::int64_t>({10, 20}));
  file.write("hessian", "parameter", span<std::string>({"a", "b", "c"}));
  file.set_variable_attribute("hessian", "matrix", {"note", "later"});
  file.write("", "checkpoint_file", span<std::string>({"step-0.npz", "Pfad/sch\u00f6n.npz"}));
  file.write_slice("", "loss", 0, span<double>({0.25}));
  file.write("", "scalar", span<double>({2.5}));
  file.write("", "empty", std::span<const double>());
  for (int k : {1, 0}) {
    const auto index = static_cast<std::uint64_t>(k);
    file.write_slice("hessian", "matrix", index, span(matrix_slice(k)));
    file.write_slice("hessian", "ramp", index, span(ramp_slice(k)));
  }
  file.write("landscape", "alpha", span<double>({-1, 0, 1}));
  file.write_slice("landscape", "loss_status", 0, span<std::int8_t>({0, 1, 2}));
  file.write_slice("landscape", "label", 0, span<std::string>({"a", "", "\u03b1\u03b2"}));
}

void write_sample(const std::filesystem::path& path) {
  ResultFile file(path);
  fill_sample(file);
  file.commit();
}

/// The message of the error of type E that `action` throws; "no error" without one.
template <typename E, typename Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  return "no error";
}

std::vector<std::string> files_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

class ForeignReader : public ::testing::TestWithParam<const char*> {};

TEST_P(ForeignReader, SeesEveryValueDimensionAndAttribute) {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "sample.h5";
  write_sample(path);
  const std::filesystem::path script =
      std::filesystem::path(HESSCOPE_TEST_FIXTURES) / "../dataset/foreign_readers_test.py";
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
    ResultFile second(std::move(first));
    second.set_attribute("", {"title", "moved"});
    second.commit();
  }
  EXPECT_THAT(files_in(folder.path()), ElementsAre("out.h5"));
}

TEST(ResultFile, RefusesToReplaceUnlessAskedTo) {
  const ScratchFolder folder;
  test::write_bytes(folder / "out.h5", "precious");
  EXPECT_THAT(
      message_of<OutputError>([&] { ResultFile file(folder / "out.h5"); }),
      AllOf(HasSubstr("out.h5"), HasSubstr("exists already"), HasSubstr("`Overwrite::kOwnKind`")));
  EXPECT_EQ(test::read_bytes(folder / "out.h5"), "precious");

  ResultFile file(folder / "out.h5", {.overwrite = true});
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
  ResultFile first(folder / "out.h5", {.overwrite = true});
  ResultFile second(folder / "out.h5", {.overwrite = true});
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
  EXPECT_THAT(message_of<OutputError>([&] { ResultFile file(folder.path(), {.overwrite = true}); }),
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
      "holds int64, got double");
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
  Variable latin1 = spec("x", kDouble, {"checkpoint"});
  latin1.long_name = "\xe9t\xe9";
  expect(define(latin1), "attribute 'long_name'", "UTF-8");
  expect(
      [&] { file.define_dimension("", "checkpoint", 9); }, "'/checkpoint'", "taken by a dimension");
  expect([&] { file.define_dimension("", "loss", 9); }, "'/loss'", "taken by a variable");
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

TEST(ResultFile, NoFlippedByteGoesUnnoticedInNumbers) {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "out.h5";
  std::vector<double> values(2000);
  double x = 0.5;
  for (double& value : values) value = x = 3.9 * x * (1 - x);  // incompressible
  const std::vector<double> few = {1.25, -7.5};
  {
    ResultFile file(path);
    file.define_dimension("", "many", 2000);
    file.define_dimension("", "few", 2);
    file.define_variable("", spec("values", VariableType::kDouble, {"many"}));
    file.define_variable("", spec("few_values", VariableType::kDouble, {"few"}));
    file.write("", "values", span(values));
    file.write("", "few_values", span(few));
    file.commit();
  }
  const std::string intact = test::read_bytes(path);
  // In a child, because HDF5 leaks what it has half opened in a damaged file.
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    int num_noticed = 0;
    int num_tried = 0;
    for (std::size_t at = 5; at < intact.size(); at += 97, ++num_tried) {
      std::string damaged = intact;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
      test::write_anew(path, damaged);
      try {
        const ResultReader reader(path);
        if (reader.read_doubles("", "values") != values) ::_exit(3);
        if (reader.read_doubles("", "few_values") != few) ::_exit(4);
      } catch (const InputError&) {
        ++num_noticed;
      }
    }
    ::_exit(num_noticed > num_tried / 2 ? 0 : 5);  // most of the file is the chunk
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "3, 4: wrong numbers were read; 5: too little was noticed";
}

TEST(ResultFile, ReportsAFullDiskAndLeavesNothing) {
  // A limit on the size of files stands in for the disk: writes beyond it fail with EFBIG once the
  // signal is ignored. In a child, since limits are for the whole process.
  for (const rlim_t limit : {1'000, 5'000, 20'000, 60'000, 200'000}) {
    const ScratchFolder folder;
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit bound{limit, limit};
      ::setrlimit(RLIMIT_FSIZE, &bound);
      std::string message = "no error";
      bool is_empty = false;
      {
        message = message_of<OutputError>([&] {
          ResultFile file(folder / "out.h5");
          fill_sample(file);
          file.define_dimension("", "many", 100'000);
          file.define_variable("", spec("values", VariableType::kDouble, {"many"}));
          std::vector<double> values(100'000);
          double x = 0.5;
          for (double& value : values) value = x = 3.9 * x * (1 - x);
          file.write("", "values", span(values));
          file.commit();
        });
        is_empty = files_in(folder.path()).empty();
      }
      const bool named = message.find("out.h5") != std::string::npos &&
                         message.find("File too large") != std::string::npos;
      if (!named) (void)!::write(2, message.c_str(), message.size());
      // Not _exit: what HDF5 does at exit with a file it could not write is part of the question.
      std::exit(named && is_empty ? 0 : is_empty ? 3 : 4);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
        << "limit " << limit << ", status " << status;
  }
}

TEST(ResultFile, ReportsAFullFileSystemAndLeavesNothing) {
  const ScratchFolder folder;
  if (::mount("none", folder.path().c_str(), "tmpfs", 0, "size=256k") != 0) {
    GTEST_SKIP() << "mounting a small file system is not permitted here";
  }

  struct Unmount {
    const std::filesystem::path& path;

    ~Unmount() { ::umount2(path.c_str(), MNT_DETACH); }
  } const unmount{folder.path()};

  // At each step as much as fits is written; what does not fit must be reported, whether it is the
  // write, the close of a dataset or the close of the file that finds out.
  int num_failed = 0;
  int num_stored = 0;
  for (std::uint64_t size = 1'000; size <= 64'000; size += 7'000) {
    const std::filesystem::path path = folder / "out.h5";
    std::vector<double> values(size);
    double x = 0.5;
    for (double& value : values) value = x = 3.9 * x * (1 - x);
    const std::string message = message_of<OutputError>([&] {
      ResultFile file(path);
      file.define_dimension("", "many", size);
      file.define_variable("", spec("values", VariableType::kDouble, {"many"}));
      file.write("", "values", span(values));
      file.commit();
    });
    if (message == "no error") {
      ++num_stored;
      EXPECT_EQ(ResultReader(path).read_doubles("", "values"), values);
      std::filesystem::remove(path);
    } else {
      ++num_failed;
      EXPECT_THAT(message, AllOf(HasSubstr("out.h5"), HasSubstr("No space left on device")));
    }
    EXPECT_THAT(files_in(folder.path()), IsEmpty());
  }
  EXPECT_GT(num_failed, 0);
  EXPECT_GT(num_stored, 0);
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

/// 20 MiB of zeros, as the statuses of a good result are, beside so many numbers that do not
/// compress.
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

}  // namespace
}  // namespace hesscope::io
