// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <hesscope/training/internal/training_journal.h>

namespace hesscope::detail {
namespace {

constexpr std::size_t kDigestWords = 8;
constexpr std::size_t kWordLength = 8;  // hexadecimal digits

}  // namespace

TrainingJournal::TrainingJournal(io::UnitFolder& folder, std::size_t state_size)
    : folder_(&folder),
      states_(folder.journal("state"), state_size + 1, folder.owner_of("state")),
      rows_(folder.journal("history"), HistoryRow::size(), folder.owner_of("history")),
      digests_(folder.journal("checkpoints"), 1 + kDigestWords, folder.owner_of("checkpoints")) {}

bool TrainingJournal::held_others() const {
  return states_.held_others() || rows_.held_others() || digests_.held_others();
}

std::vector<double> TrainingJournal::packed(const TrainingRun& run) const {
  std::vector<double> state = run.state();
  state.push_back(seconds);
  return state;
}

void TrainingJournal::write(const TrainingRun& run) {
  folder_->flush();
  states_.write(packed(run));
}

void TrainingJournal::anchor(const TrainingRun& run) {
  folder_->flush();
  rows_.sync();
  digests_.sync();
  states_.anchor(packed(run));
}

std::vector<HistoryRow> TrainingJournal::rows() const {
  return HistoryRow::from_numbers(rows_.rows());
}

void TrainingJournal::add_digest(std::int64_t step, const std::string& sha256) {
  std::vector<double> row = {static_cast<double>(step)};
  for (std::size_t k = 0; k < kDigestWords; ++k) {
    const std::string word = sha256.substr(kWordLength * k, kWordLength);
    row.push_back(static_cast<double>(std::stoul(word, nullptr, 16)));
  }
  digests_.append(row);
}

std::map<std::int64_t, std::string> TrainingJournal::digests() const {
  std::map<std::int64_t, std::string> known;
  const std::vector<double> numbers = digests_.rows();
  for (std::size_t i = 0; i < numbers.size(); i += 1 + kDigestWords) {
    std::string& sha256 = known[static_cast<std::int64_t>(numbers[i])];
    sha256.clear();
    for (std::size_t k = 1; k <= kDigestWords; ++k) {
      sha256 += fmt::format("{:08x}", static_cast<std::uint32_t>(numbers[i + k]));
    }
  }
  return known;
}

void TrainingJournal::clear() {
  rows_.truncate(0);
  digests_.truncate(0);
}

}  // namespace hesscope::detail
