// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/tensors/checkpoint_file.h>
#include <hesscope/tensors/tensor_file.h>
#include <hesscope/tensors/tensor_map.h>

#include "support/files.h"
#include "support/refusal.h"

namespace hesscope::io {
namespace {

using test::expect_refusal;
using ::testing::ElementsAre;

class Mapped : public ::testing::Test {
 protected:
  Mapped() {
    const std::vector<double> six = {1, 2, 3, 4, 5, 6};
    const std::span<const double> all = six;
    write_checkpoint(path_,
                     std::vector<CheckpointTensor>{{"net.0.w", {2, 3}, all},
                                                   {"net.0.b", {3}, all.first(3)},
                                                   {"net.12.w", {3, 2}, all},
                                                   {"epoch", {}, all.first(1)},
                                                   {"none", {0, 4}, {}}},
                     Existing::kRefuse);
  }

  TensorFile open(const TensorMap& map) const { return mapped(open_tensor_file(path_), map); }

  static std::vector<std::string> names(const TensorFile& file) {
    std::vector<std::string> all;
    for (const TensorInfo& tensor : file.tensors()) all.push_back(tensor.name);
    return all;
  }

  template <typename Error>
  void refused(const TensorMap& map, const std::string& message) const {
    SCOPED_TRACE(message);
    expect_refusal<Error>([&] { open(map); }, message);
  }

  test::ScratchFolder scratch_;
  std::filesystem::path path_ = scratch_ / "a.h5";
};

TEST_F(Mapped, RenamesOneTensorOrAllOfAPattern) {
  const TensorFile file = open({.rules = {{.name = "layers.*.weight", .source = "net.*.w"},
                                          {.name = "bias", .source = "net.0.b"}}});
  EXPECT_THAT(names(file),
              ElementsAre("layers.0.weight", "bias", "layers.12.weight", "epoch", "none"));
  EXPECT_THAT(file.read("layers.12.weight"), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(file.read("bias"), ElementsAre(1, 2, 3));
  EXPECT_EQ(file.find("net.0.w"), nullptr);
  EXPECT_EQ(file.path(), path_);
  EXPECT_EQ(file.format(), "hdf5");
}

TEST_F(Mapped, TransposesMatrices) {
  const TensorFile file =
      open({.rules = {{.name = "weight", .source = "net.0.w", .transpose = true, .place = "m:1"},
                      {.name = "empty", .source = "none", .transpose = true, .place = "m:2"}}});
  EXPECT_THAT(file.find("weight")->shape, ElementsAre(3, 2));
  EXPECT_THAT(file.read("weight"), ElementsAre(1, 4, 2, 5, 3, 6));  // of (1 2 3; 4 5 6)
  EXPECT_THAT(file.find("empty")->shape, ElementsAre(4, 0));
  EXPECT_TRUE(file.read("empty").empty());
  refused<InputError>(
      {.rules = {{.name = "b", .source = "net.0.b", .transpose = true, .place = "m.toml:7"}}},
      "tensor 'net.0.b' has shape (3,); m.toml:7 transposes it");
}

TEST_F(Mapped, LeavesOutWhatIsIgnoredAndSwapsNames) {
  const TensorFile file = open({.rules = {{.name = "net.0.w", .source = "net.12.w"},
                                          {.name = "net.12.w", .source = "net.0.w"}},
                                .ignored = {"epoch", "no*e", "absent"}});
  EXPECT_THAT(names(file), ElementsAre("net.12.w", "net.0.b", "net.0.w"));
  EXPECT_THAT(file.find("net.0.w")->shape, ElementsAre(3, 2));
}

TEST_F(Mapped, SeesWhatStandsUnderAKeyOnly) {
  const TensorFile file =
      open({.rules = {{.name = "w0", .source = "0.w"}}, .ignored = {"12.*"}, .key = "net"});
  EXPECT_THAT(names(file), ElementsAre("w0", "0.b"));
  EXPECT_THAT(file.read("0.b"), ElementsAre(1, 2, 3));
  refused<InputError>({.key = "nets", .place = "m.toml"},
                      "nothing under 'nets' (did you mean 'net'?)");
  // The part asked for comes first, then the map's part of it.
  const TensorFile inner = mapped(open_tensor_file(path_).part("net"),
                                  {.rules = {{.name = "a", .source = "w"}}, .key = "0"});
  EXPECT_THAT(names(inner), ElementsAre("a", "b"));
}

TEST_F(Mapped, RefusesNamesThatAreNotThereWithTheNearest) {
  refused<InputError>({.rules = {{.name = "w", .source = "net.0.v", .place = "m.toml:3"}}},
                      "there is no tensor 'net.0.v', which m.toml:3 reads as 'w' (did you mean "
                      "'net.0.w'?)");
  refused<InputError>({.rules = {{.name = "*", .source = "n.*.w", .place = "m.toml:3"}}},
                      "no tensor is named like 'n.*.w'");
  refused<InputError>({.rules = {{.name = "*", .source = "epoch*", .place = "m.toml:3"}}},
                      "no tensor is named like 'epoch*'");  // a '*' is not nothing
}

TEST_F(Mapped, RefusesTwoRulesForOneTensorAndTwoTensorsOfOneName) {
  refused<ConfigError>(
      {.rules = {{.name = "a.*", .source = "net.*.w", .place = "m.toml:3"},
                 {.name = "b", .source = "net.0.w", .place = "m.toml:4"}}},
      "m.toml:4: tensor 'net.0.w' of " + path_.string() + " is named by m.toml:3 too");
  refused<ConfigError>(
      {.rules = {{.name = "a", .source = "net.0.w", .place = "m.toml:3"},
                 {.name = "a", .source = "net.0.b", .place = "m.toml:4"}}},
      "m.toml:4: two tensors of " + path_.string() + " would be named 'a' (see m.toml:3)");
  refused<ConfigError>({.rules = {{.name = "epoch", .source = "net.0.w", .place = "m.toml:3"}}},
                       "m.toml:3: two tensors of " + path_.string() + " would be named 'epoch'");
}

TEST_F(Mapped, RefusesWhereNoPlaceIsKnown) {
  const std::string file = path_.string();
  const auto refused_as = [&]<typename Error>(
                              const Error&, const TensorMap& map, const std::string& message) {
    try {
      open(map);
      ADD_FAILURE() << "not refused: " << message;
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), message);
    }
  };
  const InputError input("");
  const ConfigError config("");
  refused_as(input,
             {.rules = {{.name = "a", .source = "nothing"}}},
             file + ": there is no tensor 'nothing', which a rule reads as 'a'");
  refused_as(input,
             {.rules = {{.name = "b", .source = "net.0.b", .transpose = true}}},
             file +
                 ": tensor 'net.0.b' has shape (3,); a rule transposes it, which takes 2 "
                 "dimensions");
  refused_as(config,
             {.rules = {{.name = "a", .source = "net.0.w"}, {.name = "a", .source = "net.0.b"}}},
             "two tensors of " + file + " would be named 'a' (see the rules)");
  refused_as(
      config,
      {.rules = {{.name = "epoch", .source = "net.0.w"}}},
      "two tensors of " + file + " would be named 'epoch'; name the other one too, or ignore it");
  refused_as(config,
             {.rules = {{.name = "a", .source = "net.0.w"}, {.name = "b", .source = "net.0.w"}}},
             "tensor 'net.0.w' of " + file + " is named by another rule too");
}

}  // namespace
}  // namespace hesscope::io
