// SPDX-License-Identifier: BSD-3-Clause
//
// Result files that are damaged, or that no disk has room for.
#include <csignal>
#include <string>
#include <vector>

#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/dataset/result_file.h>
#include <hesscope/dataset/result_reader.h>

#include "dataset/sample_result.h"
#include "support/files.h"

namespace hesscope::io {
namespace {

using test::files_in;
using test::fill_sample;
using test::message_of;
using test::ScratchFolder;
using test::span;
using test::spec;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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

// If HDF5 finds something damaged, such as a list of links, the reader must not continue with the
// rest.
TEST(ResultFile, NoDamagedListHidesAVariable) {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "out.h5";
  {
    ResultFile file(path);
    fill_sample(file);
    file.define_dimension("many", "point", 2);
    for (int i = 0; i < 40; ++i) {  // more than fit into the group's own header
      const std::string name = "variable_" + std::to_string(i);
      file.define_variable("many", spec(name, VariableType::kDouble, {"point"}));
      file.write("many", name, span(std::vector<double>{1.0 * i, 2.0 * i}));
    }
    file.commit();
  }
  const auto names_of = [](const ResultReader& reader) {
    std::vector<std::string> names;
    for (const Group& group : reader.groups()) {
      for (const Variable& variable : group.variables) {
        names.push_back(group.name + "/" + variable.name);
        for (const std::string& dimension : variable.dimensions) names.back() += " " + dimension;
      }
    }
    return names;
  };
  const std::vector<std::string> names = names_of(ResultReader(path));
  const std::string intact = test::read_bytes(path);
  int num_noticed = 0;
  // Where HDF5 keeps lists of links and attributes that are long, each with a checksum.
  for (const char* structure : {"FRHP", "FHDB", "BTHD", "BTLF"}) {
    std::size_t at = intact.find(structure);
    ASSERT_NE(at, std::string::npos) << structure;
    for (; at != std::string::npos; at = intact.find(structure, at + 1)) {
      std::string damaged = intact;
      damaged[at + 9] = static_cast<char>(damaged[at + 9] ^ 0x10);
      test::write_anew(path, damaged);
      try {
        EXPECT_EQ(names_of(ResultReader(path)), names) << structure << " at " << at;
      } catch (const InputError&) {
        ++num_noticed;
      }
    }
  }
  EXPECT_GT(num_noticed, 0);
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

}  // namespace
}  // namespace hesscope::io
