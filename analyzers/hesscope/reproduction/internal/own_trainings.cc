// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/reproduction/internal/own_trainings.h>
#include <hesscope/reproduction/internal/training_order.h>

namespace hesscope::detail {

OwnTrainings::OwnTrainings(const std::vector<NamedExperiment>& all,
                           const std::optional<io::Part>& part) {
  std::size_t num_dealt = 0;
  for (const NamedExperiment& named : all) {
    const ExperimentDocument& document = named.document;
    for (const std::size_t place : document.training_order) {
      const ExperimentVariant& variant = document.variants[place];
      std::optional<StartRun> source;
      if (starts_at_run(variant)) source = start_run(document, variant);
      for (const ExperimentRun& run : variant.experiment.runs) {
        for (const std::uint64_t seed : variant.experiment.seeds) {
          ++num_all_;
          const bool is_own =
              source ? has(document, document.variants[source->variant].name, source->run, seed)
                     : !part || part->is_dealt(num_dealt++);
          if (is_own) own_.insert({document.name, variant.name, run.name, seed});
        }
      }
    }
  }
}

bool OwnTrainings::has_any_of(const ExperimentDocument& document,
                              const ExperimentVariant& variant) const {
  for (const ExperimentRun& run : variant.experiment.runs) {
    for (const std::uint64_t seed : variant.experiment.seeds) {
      if (has(document, variant.name, run.name, seed)) return true;
    }
  }
  return false;
}

}  // namespace hesscope::detail
