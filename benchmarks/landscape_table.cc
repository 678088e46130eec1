// SPDX-License-Identifier: BSD-3-Clause
//
// The cost of landscapes compared with the values and Hessians that they consist of. The papers'
// setting 1: linear attention, sparse, 3 layers, d = 5, n = 20, 1,000 prompts, 150 parameters.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <hesscope/core/executor.h>
#include <hesscope/landscape/landscape.h>
#include <hesscope/problem/problem.h>
#include <hesscope/tensors/tensor_file.h>

#include "gemm.h"
#include "statistics.h"
#include "stopwatch.h"

namespace hesscope::bench {
namespace {

constexpr const char* kProblem = R"([model]
kind = "linear-attention"
layers = 3
[data]
kind = "linear-regression"
dimension = 5
context = 20
samples = 1000
seed = 99
)";

// A temporary folder, which is removed at the end.
class Scratch {
 public:
  Scratch()
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("hesscope-landscape-{}", ::getpid())) {
    std::filesystem::create_directories(path_);
  }

  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

struct Times {
  std::vector<double> landscape, parts, ratios, gflop;
};

class Table {
 public:
  Table(const std::filesystem::path& checkpoint, int num_threads, int rounds)
      : checkpoint_(checkpoint),
        num_threads_(num_threads),
        rounds_(rounds),
        gemm_(16, num_threads),
        executor_(num_threads) {
    std::ofstream(scratch_ / "problem.toml") << kProblem;
    const io::TensorFile file = io::open_tensor_file(checkpoint);
    problem_.emplace(read_problem_file(scratch_ / "problem.toml"), file, num_threads);
    theta_ = problem_->read_parameters(file);
  }

  // `part` at every point, on all threads, is the work that the landscape cannot avoid.
  template <typename Part>
  void print(const std::string& what, const std::string& grid, bool curvature, Part part) {
    LandscapeRequest request;
    request.checkpoints = {{.path = checkpoint_, .step = {}}};
    request.problem = scratch_ / "problem.toml";
    request.output = scratch_ / "out.h5";
    request.directions = "random";
    request.grid = parse_grid(grid, "-0.2:0.2");
    request.curvature = curvature;
    request.overwrite = hesscope::io::Overwrite::kOwnKind;
    request.num_threads = num_threads_;
    Times times;
    for (int round = 0; round < rounds_; ++round) {
      const Gemm::Run gemm = gemm_.run();
      const Stopwatch whole;
      run_landscape(request);
      times.landscape.push_back(whole.seconds());
      const Stopwatch parts;
      executor_.for_each(request.grid.num_points(), [&](Eigen::Index) { part(theta_); });
      times.parts.push_back(parts.seconds());
      times.ratios.push_back(times.landscape.back() / times.parts.back());
      times.gflop.push_back(times.landscape.back() / gemm.seconds * gemm_.gflop());
    }
    const auto [least, most] = std::minmax_element(times.ratios.begin(), times.ratios.end());
    fmt::print("| {} {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} to {:.2f} | 1.30 | {:.1f} | {} |\n",
               what,
               grid,
               median(times.landscape),
               median(times.parts),
               median(times.ratios),
               *least,
               *most,
               median(times.gflop),
               curvature ? "" : "60");
  }

  const Objective& objective() const { return problem_->objective(); }

 private:
  std::filesystem::path checkpoint_;
  int num_threads_;
  int rounds_;
  Gemm gemm_;
  Executor executor_;
  Scratch scratch_;
  std::optional<Problem> problem_;
  Eigen::VectorXd theta_;
};

int run(int argc, char** argv) {
  CLI::App app(
      "Prints what landscapes cost compared with the values and Hessians they are made of.");
  std::string checkpoint = HESSCOPE_BENCH_DATA "/linear-attention/adam/step-000500.npz";
  int num_threads = 0;
  int rounds = 3;
  bool is_quick = false;
  app.add_option("--checkpoint", checkpoint, "the centre")->capture_default_str();
  app.add_option("--threads", num_threads, "0 = one per core")->capture_default_str();
  app.add_option("--rounds", rounds, "runs of each side")
      ->capture_default_str()
      ->check(CLI::Range(1, 99));
  app.add_flag("--quick", is_quick, "small grids: for trying out, not for figures");
  CLI11_PARSE(app, argc, argv);
  num_threads = Executor(num_threads).num_threads();
  fmt::print(
      "{} threads\n\n"
      "| | seconds | parts, seconds | ratio | range | limit | GFLOP | limit |\n"
      "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
      num_threads);
  Table table(checkpoint, num_threads, rounds);
  const Objective& objective = table.objective();
  table.print("values", is_quick ? "21x21" : "101x101", false, [&](const Eigen::VectorXd& theta) {
    static_cast<void>(objective.value(theta));
  });
  table.print("Hessians", is_quick ? "9x9" : "51x51", true, [&](const Eigen::VectorXd& theta) {
    static_cast<void>(objective.hessian(theta));
  });
  return 0;
}

}  // namespace
}  // namespace hesscope::bench

int main(int argc, char** argv) {
  try {
    return hesscope::bench::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
