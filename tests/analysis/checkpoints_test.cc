// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/analysis/checkpoints.h>
#include <hesscope/core/error.h>

#include "support/files.h"

namespace hesscope {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Property;
using ::testing::Throws;
using ::testing::ThrowsMessage;

std::vector<std::string> names_of(const std::vector<CheckpointFile>& checkpoints) {
  std::vector<std::string> names;
  for (const CheckpointFile& checkpoint : checkpoints) {
    names.push_back(checkpoint.path.filename().string());
  }
  return names;
}

class ExpandCheckpoints : public ::testing::Test {
 protected:
  void touch(const std::string& name) { test::write_bytes(folder_ / name, ""); }

  std::vector<CheckpointFile> expand(const std::string& format = "") {
    return expand_checkpoints({folder_.path()}, format);
  }

  test::ScratchFolder folder_;
};

TEST_F(ExpandCheckpoints, OrdersAFolderByStepNotByName) {
  for (const char* name : {"step-1000.npz", "step-90.npz", "step-000200.npz", "step-0.npz"}) {
    touch(name);
  }
  EXPECT_THAT(names_of(expand()),
              ElementsAre("step-0.npz", "step-90.npz", "step-000200.npz", "step-1000.npz"));
  EXPECT_EQ(expand()[2].step, 200);
}

TEST_F(ExpandCheckpoints, IgnoresFilesOfOtherNames) {
  for (const char* name : {"step-5.npz",
                           "eval.npz",
                           "step-x.npz",
                           "step-.npz",
                           "step-7b.npz",
                           "step--3.npz",
                           "astep-1.npz",
                           "step-99999999999999999999.npz"}) {
    touch(name);
  }
  EXPECT_THAT(names_of(expand()), ElementsAre("step-5.npz"));
}

TEST_F(ExpandCheckpoints, IgnoresWhatLiesBesideACheckpoint) {
  for (const char* name : {"step-5.npz", "step-5.npz.sha256", "step-6.weights.h5"}) touch(name);
  std::filesystem::create_directory(folder_ / "step-7");
  EXPECT_THAT(names_of(expand()), ElementsAre("step-5.npz", "step-6.weights.h5"));
}

TEST_F(ExpandCheckpoints, LeavesOutBackupsAndTellsWhatIsNotNumbered) {
  for (const char* name : {"step-5.npz",
                           "step-6.npz~",
                           "step-5.npz.sha256",
                           "step-5.5.npz",
                           "step--3.npz",
                           "step-latest.pt",
                           "step-99999999999999999999.npz",
                           "step-notes.txt",
                           "step-7-00001-of-00002.safetensors",
                           "eval.npz"}) {
    touch(name);
  }
  std::filesystem::create_directory(folder_ / "step-x.npz");
  EXPECT_THAT(names_of(expand()), ElementsAre("step-5.npz"));
  EXPECT_THAT(checkpoints_in_folder(folder_.path()).remarks,
              ElementsAre(HasSubstr("follows 'step-': step--3.npz, step-5.5.npz, "
                                    "step-99999999999999999999.npz, step-latest.pt")));
}

TEST_F(ExpandCheckpoints, NamesOtherNumberedFilesBesideThoseNamedStepN) {
  for (const char* name : {"step-0.npz",
                           "Step_2.npz",
                           "epoch_1.npz",
                           "epoch_2.npz",
                           "epoch_3.pt",
                           "best.npz",
                           "epoch_4.npz~",
                           "notes_5.txt",
                           "big-00001-of-00002.safetensors"}) {
    touch(name);
  }
  EXPECT_THAT(names_of(expand()), ElementsAre("step-0.npz"));
  EXPECT_THAT(checkpoints_in_folder(folder_.path()).remarks,
              ElementsAre(HasSubstr("left out, since not named like step-0.npz: Step_2.npz, "
                                    "epoch_1.npz, epoch_2.npz, epoch_3.pt")));
  EXPECT_THAT(checkpoints_in_folder(folder_.path(), "npz").remarks,
              ElementsAre(HasSubstr("step-0.npz: Step_2.npz, epoch_1.npz, epoch_2.npz")));
}

TEST_F(ExpandCheckpoints, TakesFilesNamedAlikeWhereNoneIsNamedStepN) {
  for (const char* name : {"epoch_5.pt", "epoch_10.pt", "epoch_0.pt"}) touch(name);
  EXPECT_THAT(names_of(expand()), ElementsAre("epoch_0.pt", "epoch_5.pt", "epoch_10.pt"));
  EXPECT_EQ(expand()[1].step, 5);
  EXPECT_THAT(checkpoints_in_folder(folder_.path()).remarks, IsEmpty());
  touch("step-1.npz");
  EXPECT_THAT(names_of(expand()), ElementsAre("step-1.npz"));
}

TEST_F(ExpandCheckpoints, NamesWhatItLeavesOutBesideFilesNamedAlike) {
  for (const char* name : {"ckpt-000100.npz",
                           "ckpt-000020.npz",
                           "best.pt",
                           "last.pt",
                           "model_1.pt",
                           "notes.txt",
                           "config.json",
                           "ckpt-000020.npz~",
                           "big-00001-of-00002.safetensors"}) {
    touch(name);
  }
  EXPECT_THAT(names_of(expand()), ElementsAre("ckpt-000020.npz", "ckpt-000100.npz"));
  EXPECT_THAT(checkpoints_in_folder(folder_.path()).remarks,
              ElementsAre(AllOf(HasSubstr("not named like ckpt-000020.npz: best.pt, last.pt, "
                                          "model_1.pt"),
                                Not(HasSubstr("notes")),
                                Not(HasSubstr("config")))));
}

TEST_F(ExpandCheckpoints, OrdersByTheNumberThatDiffers) {
  for (const char* name : {"mlp2_e9_s900.pt", "mlp2_e10_s1000.pt", "mlp2_e1_s100.pt"}) touch(name);
  EXPECT_THAT(names_of(expand()),
              ElementsAre("mlp2_e1_s100.pt", "mlp2_e9_s900.pt", "mlp2_e10_s1000.pt"));
}

// A '#' is a character of a name, whatever stands for numbers where names are compared.
TEST_F(ExpandCheckpoints, TakesNoSignOfANameForANumber) {
  for (const char* name : {"a#_1_2.pt", "a1_#_#.pt", "a3_#_#.pt"}) touch(name);
  const auto files = expand();
  EXPECT_THAT(names_of(files), ElementsAre("a1_#_#.pt", "a3_#_#.pt"));
  EXPECT_EQ(files[0].step, 1);
  EXPECT_EQ(files[1].step, 3);
}

TEST_F(ExpandCheckpoints, RefusesAFolderOfTwoWaysOfNamesAsLarge) {
  for (const char* name : {"model_1.pt", "model_2.pt", "optimizer_1.pt", "optimizer_2.pt"}) {
    touch(name);
  }
  EXPECT_THAT([&] { expand(); },
              ThrowsMessage<InputError>(AllOf(HasSubstr(folder_.path().string()),
                                              HasSubstr("model_1.pt, optimizer_1.pt"),
                                              HasSubstr("one by one"))));
}

TEST_F(ExpandCheckpoints, AsksForAFormatWhereFilesNamedAlikeAreThereInTwo) {
  for (const char* name : {"epoch_1.pt", "epoch_2.pt", "epoch_2.npz"}) touch(name);
  EXPECT_THAT([&] { expand(); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("epoch_2.npz"), HasSubstr("`format`"))));
  EXPECT_THAT(names_of(expand("pt")), ElementsAre("epoch_1.pt", "epoch_2.pt"));
}

TEST_F(ExpandCheckpoints, KeepsTheOrderOfWhatIsNamed) {
  test::ScratchFolder other;
  touch("step-1.npz");
  touch("step-2.npz");
  test::write_bytes(other / "step-0.npz", "");
  const auto all = expand_checkpoints({folder_.path(), "final.npz", other.path()});
  EXPECT_THAT(names_of(all), ElementsAre("step-1.npz", "step-2.npz", "final.npz", "step-0.npz"));
  EXPECT_EQ(all[2].step, std::nullopt);
  EXPECT_EQ(all[3].step, 0);
}

TEST_F(ExpandCheckpoints, ReadsTheStepOfANamedFile) {
  const auto found = expand_checkpoints({"somewhere/step-000250.h5", "step-12"});
  EXPECT_EQ(found[0].step, 250);
  EXPECT_EQ(found[1].step, 12);
}

TEST_F(ExpandCheckpoints, LeavesFilesThatDoNotExistToTheirReader) {
  EXPECT_THAT(names_of(expand_checkpoints({"nothere.npz"})), ElementsAre("nothere.npz"));
}

TEST_F(ExpandCheckpoints, RefusesOneStepInTwoFormatsAndAsksForOne) {
  for (const char* name : {"step-1.npz", "step-2.npz", "step-2.h5"}) touch(name);
  EXPECT_THAT([&] { expand(); },
              ThrowsMessage<InputError>(AllOf(HasSubstr(folder_.path().string()),
                                              HasSubstr("step 2"),
                                              HasSubstr("step-2.npz"),
                                              HasSubstr("step-2.h5"),
                                              HasSubstr("`format`"))));
  EXPECT_THAT(names_of(expand("npz")), ElementsAre("step-1.npz", "step-2.npz"));
  EXPECT_THAT(names_of(expand("hdf5")), ElementsAre("step-2.h5"));
}

TEST_F(ExpandCheckpoints, RefusesOneStepUnderTwoNames) {
  touch("step-1.npz");
  touch("step-001.npz");
  EXPECT_THAT([&] { expand("npz"); }, Throws<InputError>());
}

TEST_F(ExpandCheckpoints, RefusesWhatIsNamedLikeACheckpointAndIsNoFile) {
  for (const char* others : {"step-5.npz", "epoch_5.npz"}) {
    touch(others);
    const std::filesystem::path name =
        folder_ / (others[0] == 's' ? "step-10.npz" : "epoch_10.npz");
    const auto expect_refused = [&](const std::string& what) {
      EXPECT_THAT([&] { (void)expand(); },
                  ThrowsMessage<InputError>(AllOf(HasSubstr(name.filename().string()),
                                                  HasSubstr(what),
                                                  HasSubstr("name the files one by one"))));
      EXPECT_THAT(names_of(expand_checkpoints({folder_ / others}, "")), ElementsAre(others));
      std::filesystem::remove(name);
    };
    std::filesystem::create_symlink("/nowhere/step-10.npz", name);
    expect_refused("a symbolic link to /nowhere/step-10.npz, which cannot be read");
    std::filesystem::create_symlink(name, name);
    expect_refused("a symbolic link to");
    std::filesystem::create_directory(name);
    expect_refused("a folder");
    std::filesystem::create_directory(folder_ / "eval.npz");
    std::filesystem::create_symlink(others, name);  // to a file, as caches have them
    EXPECT_THAT(names_of(expand()), ElementsAre(others, name.filename().string()));
    std::filesystem::remove_all(folder_ / "eval.npz");
    std::filesystem::remove(name);
    std::filesystem::remove(folder_ / others);
  }
}

TEST_F(ExpandCheckpoints, RefusesAFolderWithoutCheckpoints) {
  touch("eval.npz");
  EXPECT_THAT(
      [&] { expand(); },
      ThrowsMessage<InputError>(AllOf(HasSubstr(folder_.path().string()), HasSubstr("step-N.*"))));
  touch("step-1.h5");
  EXPECT_THAT([&] { expand("npz"); }, ThrowsMessage<InputError>(HasSubstr("step-N.npz")));
}

TEST_F(ExpandCheckpoints, SuggestsTheNearestFormat) {
  EXPECT_THAT([&] { expand("nzp"); },
              ThrowsMessage<ConfigError>(
                  AllOf(HasSubstr("'nzp'"), HasSubstr("did you mean 'npz'"), HasSubstr("hdf5"))));
}

}  // namespace
}  // namespace hesscope
