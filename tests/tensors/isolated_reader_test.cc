// SPDX-License-Identifier: BSD-3-Clause
//
// What a reader in a separate process may do to the program: nothing.
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <latch>
#include <memory>
#include <numeric>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/tensors/checkpoint_file.h>
#include <hesscope/tensors/internal/isolated_listing.h>
#include <hesscope/tensors/internal/isolated_reader.h>
#include <hesscope/tensors/tensor_file.h>

#include "support/files.h"
#include "support/sanitizers.h"

namespace {

using hesscope::InputError;
using hesscope::OutputError;
using hesscope::io::BlockSink;
using hesscope::io::BlockSource;
using hesscope::io::InputFile;
using hesscope::io::open_isolated;
using hesscope::io::ReadLimits;
using hesscope::io::TensorInfo;
using hesscope::io::TensorSource;
using hesscope::io::UnreadableTensor;
using hesscope::test::ScratchFolder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

void deliver(BlockSink& sink, const std::vector<double>& values) {
  std::ranges::copy(values, sink.room().begin());
  sink.deliver(values.size());
}

void deliver_none(BlockSink&) {}

/// Two tensors of two elements: "sound" is (1, 2), and "odd" whatever `read` makes of it.
class Odd final : public BlockSource {
 public:
  explicit Odd(std::function<void(BlockSink&)> read) : read_(std::move(read)) {}

  std::span<const TensorInfo> tensors() const override { return tensors_; }

  std::span<const UnreadableTensor> unreadable() const override { return unreadable_; }

  void read(std::size_t index, BlockSink& sink) const override {
    if (index == 1) return read_(sink);
    deliver(sink, {1, 2});
  }

 private:
  std::function<void(BlockSink&)> read_;
  std::vector<TensorInfo> tensors_ = {{"sound", {2}}, {"odd", {2}}};
  std::vector<UnreadableTensor> unreadable_ = {{"none", "it is none"}, {"text", "", true}};
};

class IsolatedReader : public ::testing::Test {
 protected:
  IsolatedReader() { hesscope::test::write_bytes(path_, "content"); }

  std::shared_ptr<const InputFile> file() const { return std::make_shared<InputFile>(path_); }

  std::unique_ptr<TensorSource> open(std::function<void(BlockSink&)> read,
                                     const ReadLimits& limits = {}) const {
    return open_isolated(file(), "FMT", limits, [=] { return std::make_unique<Odd>(read); });
  }

  /// That reading "odd" is refused in these words, and "sound" still can be read.
  template <typename Matcher>
  void expect_refused(const TensorSource& source, Matcher matcher) const {
    try {
      source.read(1);
      ADD_FAILURE() << "was read";
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr(path_.string()), matcher));
    }
    EXPECT_THAT(source.read(0), ElementsAre(1, 2));
  }

  ScratchFolder scratch_;
  std::filesystem::path path_ = scratch_ / "file";
};

TEST_F(IsolatedReader, ReadsWhatTheChildDelivers) {
  const auto source = open([](BlockSink& sink) {
    deliver(sink, {3});
    deliver(sink, {4});
  });
  ASSERT_EQ(source->tensors().size(), 2);
  EXPECT_EQ(source->tensors()[1].name, "odd");
  EXPECT_THAT(source->read(1), ElementsAre(3, 4));
  EXPECT_THAT(source->read(0), ElementsAre(1, 2));
  ASSERT_EQ(source->unreadable().size(), 2);
  EXPECT_EQ(source->unreadable()[0].name, "none");
  EXPECT_EQ(source->unreadable()[0].reason, "it is none");
  EXPECT_FALSE(source->unreadable()[0].is_no_parameter);
  EXPECT_TRUE(source->unreadable()[1].is_no_parameter);
}

TEST_F(IsolatedReader, BelievesNoListingBeyondTheLimits) {
  const auto decoded = [](const UnreadableTensor& tensor, const ReadLimits& limits) {
    const std::vector<UnreadableTensor> unreadable = {tensor};
    const std::vector<TensorInfo> tensors = {{"w", {2}}};
    const std::string bytes = hesscope::io::encode_listing(tensors, unreadable);
    EXPECT_LE(bytes.size(), hesscope::io::max_listing_bytes(limits));
    EXPECT_FALSE(hesscope::io::decode_listing("FILE", bytes.substr(0, bytes.size() - 1), limits));
    return hesscope::io::decode_listing("FILE", bytes, limits).has_value();
  };
  EXPECT_TRUE(decoded({"odd", std::string(500, 'x')}, {}));
  EXPECT_FALSE(decoded({"odd", std::string(501, 'x')}, {}));
  EXPECT_FALSE(decoded({"odd", "\x1b"}, {}));
  EXPECT_FALSE(decoded({"\x1b", "why"}, {}));
  EXPECT_TRUE(decoded({"odd", "why"}, {.max_tensors = 2}));
  EXPECT_FALSE(decoded({"odd", "why"}, {.max_tensors = 1}));
}

TEST_F(IsolatedReader, TurnsACrashIntoAnErrorThatNamesTheTensor) {
  const auto source = open([](BlockSink&) { ::raise(SIGSEGV); });
  expect_refused(*source,
                 HasSubstr("malformed FMT: reading it crashed with signal 11 while reading 'odd'"));
}

TEST_F(IsolatedReader, TurnsACrashWhileListingIntoAnError) {
  const auto crash = []() -> std::unique_ptr<BlockSource> { std::abort(); };
  try {
    open_isolated(file(), "FMT", {}, crash);
    ADD_FAILURE() << "was opened";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("crashed with signal 6 while listing its tensors"));
  }
}

TEST_F(IsolatedReader, TellsNoAnswerFromANo) {
  using hesscope::io::Answer;
  using hesscope::io::ask_isolated;
  EXPECT_EQ(ask_isolated(*file(), {}, [] { return true; }), Answer::kYes);
  EXPECT_EQ(ask_isolated(*file(), {}, [] { return false; }), Answer::kNo);
  EXPECT_EQ(ask_isolated(*file(), {}, []() -> bool { std::abort(); }), Answer::kNone);
  EXPECT_EQ(ask_isolated(*file(), {}, []() -> bool { throw InputError("odd"); }), Answer::kNone);
  const auto sleep = [] {
    std::this_thread::sleep_for(std::chrono::hours(1));
    return true;
  };
  EXPECT_EQ(ask_isolated(*file(), {.max_seconds = 0.2}, sleep), Answer::kNone);
}

TEST_F(IsolatedReader, StopsAChildThatTakesTooLong) {
  const auto source = open([](BlockSink&) { std::this_thread::sleep_for(std::chrono::hours(1)); },
                           {.max_seconds = 0.2});
  expect_refused(*source, HasSubstr("reading 'odd' took more than 0.2 s and was stopped"));
}

TEST_F(IsolatedReader, EndsAtOnceWhereStopIsRequested) {
  std::stop_source stop;
  const auto input = std::make_shared<InputFile>(path_, "a file", stop.get_token());
  const auto source = open_isolated(input, "FMT", {}, [] {
    return std::make_unique<Odd>(
        [](BlockSink&) { std::this_thread::sleep_for(std::chrono::hours(1)); });
  });
  const std::jthread stopping([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stop.request_stop();
  });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW(source->read(1), hesscope::Interrupted);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "the child is still there";
}

TEST_F(IsolatedReader, BoundsTheMemoryOfTheChild) {
  if (hesscope::test::kMemoryIsInstrumented)
    GTEST_SKIP() << "the sanitizer needs the address space";
  const auto source = open(
      [](BlockSink& sink) {
        const std::vector<double> hoard(std::size_t{1} << 25);
        deliver(sink, {hoard.front(), hoard.back()});
      },
      {.max_process_bytes = 64 << 20});
  expect_refused(*source, HasSubstr("memory"));
}

TEST_F(IsolatedReader, PassesErrorsOn) {
  const auto source = open([](BlockSink&) { throw InputError("FILE: it is damaged"); });
  try {
    source->read(1);
    ADD_FAILURE() << "was read";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "FILE: it is damaged");
  }
  EXPECT_THAT(source->read(0), ElementsAre(1, 2));
}

TEST_F(IsolatedReader, BelievesNoChildThatDeliversMoreOrLess) {
  const auto more = open([](BlockSink& sink) { deliver(sink, {1, 2, 3}); });
  expect_refused(*more, HasSubstr("malformed reply while reading 'odd'"));
  const auto less = open([](BlockSink& sink) { deliver(sink, {1}); });
  expect_refused(*less, HasSubstr("malformed reply while reading 'odd'"));
}

TEST_F(IsolatedReader, GivesTheChildNoDescriptors) {
  const int other = ::open(path_.c_str(), O_RDONLY);  // without O_CLOEXEC
  const auto source = open([](BlockSink& sink) {
    double num_open = 0;
    for (int descriptor = 0; descriptor < 1000; ++descriptor) {
      if (::fcntl(descriptor, F_GETFD) >= 0) ++num_open;
    }
    const int file = ::open("/dev/null", O_RDONLY);
    deliver(sink, {num_open, static_cast<double>(file)});
  });
  EXPECT_THAT(source->read(1), ElementsAre(5, -1)) << "standard streams, the socket, the file";
  ::close(other);
}

TEST_F(IsolatedReader, IsNotEndedByWhatIsMeantForTheProgram) {
  static std::atomic<int> num_handled = 0;
  const auto before = std::signal(SIGINT, [](int) { ++num_handled; });
  const auto source = open([](BlockSink& sink) {
    ::raise(SIGINT);
    deliver(sink, {static_cast<double>(num_handled.load()), 0});
  });
  EXPECT_THAT(source->read(1), ElementsAre(0, 0));
  std::signal(SIGINT, before);
}

TEST_F(IsolatedReader, KeepsFewChildrenHoweverManyFilesAreOpen) {
  const auto process = [](BlockSink& sink) { deliver(sink, {static_cast<double>(::getpid()), 0}); };
  {
    std::vector<std::unique_ptr<TensorSource>> sources;
    for (int i = 0; i < 30; ++i) sources.push_back(open(process));
    std::vector<pid_t> children;
    for (const auto& source : sources) children.push_back(static_cast<pid_t>(source->read(1)[0]));
    const auto num_alive =
        std::ranges::count_if(children, [](pid_t child) { return ::kill(child, 0) == 0; });
    EXPECT_LE(num_alive, 8);
    EXPECT_GE(num_alive, 1);
    for (const auto& source : sources) EXPECT_THAT(source->read(0), ElementsAre(1, 2));
  }
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child, or what it left, is still there";
}

// Where two threads read at once, a child stays for each: the second must not outlive the file.
TEST_F(IsolatedReader, EndsAllChildrenOfAFileWithIt) {
  const auto slow = [](BlockSink& sink) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    deliver(sink, {static_cast<double>(::getpid()), 0});
  };
  std::array<double, 2> children{};
  {
    const auto source = open(slow);
    std::latch both(2);
    const auto read = [&](double& child) {
      both.arrive_and_wait();
      child = source->read(1)[0];
    };
    std::jthread other([&] { read(children[1]); });
    read(children[0]);
  }
  EXPECT_NE(children[0], children[1]);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child, or what it left, is still there";
}

TEST_F(IsolatedReader, ServesNoFileByTheChildOfAnother) {
  for (int k = 0; k < 4; ++k) {  // each where the one before was in memory
    const auto one = open([k](BlockSink& sink) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      deliver(sink, {static_cast<double>(k), 0});
    });
    std::jthread other([&] { EXPECT_EQ(one->read(1)[0], k); });
    EXPECT_EQ(one->read(1)[0], k);
  }
}

TEST_F(IsolatedReader, StartsAnotherChildWhereOneIsGone) {
  const auto source = open([](BlockSink& sink) {
    deliver(sink, {static_cast<double>(::getpid()), 0});
  });
  const auto first = static_cast<pid_t>(source->read(1)[0]);
  ::kill(first, SIGKILL);
  const auto second = static_cast<pid_t>(source->read(1)[0]);
  EXPECT_NE(first, second);
  ::kill(second, SIGKILL);
  hesscope::test::write_bytes(path_, "other content");
  EXPECT_THROW(source->read(0), InputError) << "the file is another one";
}

TEST_F(IsolatedReader, SaysThatNoProcessCanBeHad) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const auto input = file();
  const rlimit none{3, limit.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &none);
  EXPECT_THROW(open_isolated(input, "FMT", {}, [] { return std::make_unique<Odd>(deliver_none); }),
               OutputError);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

TEST_F(IsolatedReader, MayBeStartedWhileOtherThreadsAllocate) {
  std::atomic<bool> done = false;
  const auto allocate = [&] {
    std::vector<std::vector<char>> blocks(64);
    for (std::size_t size = 16; !done; size = size % 20000 + 1000) {
      for (auto& block : blocks) block = std::vector<char>(size);
    }
  };
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 3; ++thread) threads.emplace_back(allocate);
  for (int round = 0; round < 10; ++round) {
    const auto source = open([](BlockSink& sink) {
      for (std::size_t size = 16; size < 20000; size += 1000) {
        const std::vector<std::vector<char>> hoard(100, std::vector<char>(size));
      }
      deliver(sink, {3, 4});
    });
    EXPECT_THAT(source->read(1), ElementsAre(3, 4));
  }
  done = true;
}

TEST_F(IsolatedReader, MayBeStartedWhileOtherThreadsUseHdf5) {
  const std::vector<double> values = {1, 2, 3};
  const auto write = [&](int thread) {
    for (int i = 0; i < 20; ++i) {
      const std::filesystem::path path =
          scratch_ / (std::to_string(thread) + "-" + std::to_string(i) + ".h5");
      hesscope::io::write_checkpoint(
          path,
          std::vector<hesscope::io::CheckpointTensor>{{"w", {3}, values}},
          hesscope::io::Existing::kRefuse);
      EXPECT_EQ(hesscope::io::open_tensor_file(path).read("w"), values);
    }
  };
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) threads.emplace_back(write, thread);
}

}  // namespace
