// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/error.h>
#include <hesscope/reproduction/internal/experiment_parts.h>
#include <hesscope/reproduction/internal/training_order.h>

namespace hesscope::detail {
namespace {

enum class State { kOpen, kUnderWay, kDone };

// Depth first: first what a variant starts from, then the variant.
void visit(const ExperimentDocument& document,
           std::size_t place,
           std::vector<State>& states,
           std::vector<std::size_t>& order) {
  if (states[place] == State::kDone) return;
  const ExperimentVariant& variant = document.variants[place];
  if (states[place] == State::kUnderWay) {
    throw ConfigError(fmt::format("{}: variant '{}' would start from where it ends itself",
                                  variant.experiment.start->location,
                                  variant.name));
  }
  states[place] = State::kUnderWay;
  if (starts_at_run(variant)) visit(document, start_run(document, variant).variant, states, order);
  states[place] = State::kDone;
  order.push_back(place);
}

}  // namespace

bool starts_at_run(const ExperimentVariant& variant) {
  return variant.experiment.start && !variant.experiment.start->run.empty();
}

StartRun start_run(const ExperimentDocument& document, const ExperimentVariant& variant) {
  const StartCheckpoint& start = *variant.experiment.start;
  const std::size_t slash = start.run.find('/');
  if (slash == std::string::npos) {
    throw ConfigError(fmt::format(R"({}: 'from' is VARIANT/RUN, as in "{}/{}"; got "{}")",
                                  start.location,
                                  document.variants.front().name,
                                  document.variants.front().experiment.runs.front().name,
                                  start.run));
  }
  const std::vector<std::string> names = variant_names(document);
  const std::string name = start.run.substr(0, slash);
  require_known({name}, names, "variant", start.location);
  const auto place =
      static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  const ExperimentFile& source = document.variants[place].experiment;
  StartRun found{place, start.run.substr(slash + 1)};
  std::vector<std::string> runs;
  for (const ExperimentRun& run : source.runs) runs.push_back(run.name);
  require_known({found.run}, runs, fmt::format("run of variant '{}'", name), start.location);
  for (const std::uint64_t seed : variant.experiment.seeds) {
    const auto& seeds = source.seeds;
    if (std::find(seeds.begin(), seeds.end(), seed) != seeds.end()) continue;
    throw ConfigError(
        fmt::format("{}: variant '{}' has the seed {}, from which '{}' is not trained: "
                    "its seeds are {}",
                    start.location,
                    variant.name,
                    seed,
                    start.run,
                    fmt::join(seeds, ", ")));
  }
  return found;
}

std::vector<std::size_t> training_order(const ExperimentDocument& document) {
  std::vector<State> states(document.variants.size(), State::kOpen);
  std::vector<std::size_t> order;
  for (std::size_t place = 0; place < states.size(); ++place) {
    visit(document, place, states, order);
  }
  return order;
}

}  // namespace hesscope::detail
