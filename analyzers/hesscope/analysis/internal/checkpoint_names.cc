// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>
#include <utility>

#include <hesscope/analysis/internal/checkpoint_names.h>
#include <hesscope/core/ascii.h>
#include <hesscope/core/parse_number.h>

namespace hesscope::detail {
namespace {

namespace fs = std::filesystem;

// Stands for a number in a pattern: no file name contains it.
constexpr char kNumber = '\0';

std::optional<std::int64_t> value_of(std::string_view digits) {
  const auto value = parse_number<std::int64_t>(digits);
  return value && *value <= kLargestStep ? value : std::nullopt;
}

// Endings that other programs use for files of a format.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kOtherEndings = {{
    {".ckpt", "pt"},
    {".bin", "pt"},
    {".tar", "pt"},
    {".hdf5", "hdf5"},
    {".hdf", "hdf5"},
    {".he5", "hdf5"},
}};

// The name without the ending of a format, which may contain digits (".h5"), and without what Keras
// and Hugging Face put before it.
std::string without_ending(const fs::path& path) {
  if (format_by_ending(path) == nullptr) return path.filename().string();
  fs::path name = path.stem();
  for (const char* inner : {".weights", ".index", ".pt", ".pth", ".safetensors"}) {
    if (name.extension() == inner) name = name.stem();
  }
  return name.string();
}

// The digits from `first` on.
std::string_view digits_at(std::string_view text, std::size_t first) {
  std::size_t end = first;
  while (end < text.size() && is_digit(text[end])) ++end;
  return text.substr(first, end - first);
}

// The letters before a place, without the separators between.
std::string word_before(std::string_view text, std::size_t end) {
  while (end > 0 && !is_letter(text[end - 1]) && !is_digit(text[end - 1])) --end;
  std::size_t first = end;
  while (first > 0 && is_letter(text[first - 1])) --first;
  const bool is_exponent = end - first == 1 && first > 0 && is_digit(text[first - 1]);  // of 1e-5
  return is_exponent ? std::string() : std::string(text.substr(first, end - first));
}

NumberedName numbers_in(std::string_view text) {
  NumberedName name;
  for (std::size_t i = 0; i < text.size();) {
    if (!is_digit(text[i])) {
      name.pattern += text[i++];
      continue;
    }
    const std::string_view digits = digits_at(text, i);
    const std::size_t end = i + digits.size();
    const bool has_fraction = end + 1 < text.size() && text[end] == '.' && is_digit(text[end + 1]);
    const bool is_signed = i >= 2 && text[i - 1] == '-' && text[i - 2] == '-';
    if (has_fraction) {
      const std::size_t beyond = end + 1 + digits_at(text, end + 1).size();
      name.pattern += text.substr(i, beyond - i);
      i = beyond;
    } else {
      if (is_signed) {
        name.pattern += digits;
      } else {
        name.pattern += kNumber;
        name.numbers.push_back(value_of(digits));
        name.words.push_back(lower_case(word_before(text, i)));
      }
      i = end;
    }
  }
  return name;
}

bool is_among(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

// Whether a folder stands for one checkpoint: a word, perhaps a separator, a number.
bool is_checkpoint_folder(const std::string& name) {
  constexpr std::array<std::string_view, 8> kWords = {
      "checkpoint", "ckpt", "step", "global_step", "epoch", "iter", "iteration", "it"};
  const auto first = std::ranges::find_if(name, is_digit);
  if (first == name.end() || !std::all_of(first, name.end(), is_digit)) return false;
  std::string word = lower_case({name.begin(), first});
  if (!word.empty() && std::string_view("-_=").find(word.back()) != std::string_view::npos) {
    word.pop_back();
  }
  return is_among(word, kWords);
}

bool is_word_for_steps(const std::string& word) {
  constexpr std::array<std::string_view, 11> kWords = {
      "s", "step", "steps", "i", "it", "iter", "iters", "iteration", "update", "updates", "batch"};
  return is_among(word, kWords);
}

bool is_word_for_epochs(const std::string& word) {
  constexpr std::array<std::string_view, 4> kWords = {"e", "ep", "epoch", "epochs"};
  return is_among(word, kWords);
}

// Which number is the step: among those that `may_be` it, the last one after a word for steps, or
// else for epochs, or else the last.
template <typename MayBe>
std::optional<std::size_t> best_position(const NumberedName& name, MayBe may_be) {
  const auto last_where = [&](auto is_told) -> std::optional<std::size_t> {
    for (std::size_t position = name.numbers.size(); position > 0; --position) {
      if (may_be(position - 1) && is_told(name.words[position - 1])) return position - 1;
    }
    return std::nullopt;
  };
  if (const auto step = last_where(is_word_for_steps)) return step;
  if (const auto epoch = last_where(is_word_for_epochs)) return epoch;
  return last_where([](const std::string&) { return true; });
}

// Whether a number may distinguish files of a folder. That of mlp2.pt belongs to a word, that of
// mp_rank_00_model_states.pt to a process.
bool has_own_number(const NumberedName& name) {
  std::size_t k = 0;
  for (std::size_t i = 0; i < name.pattern.size() && k < name.words.size(); ++i) {
    if (name.pattern[i] != kNumber) continue;
    const std::string& word = name.words[k++];
    const bool is_of_word = i > 0 && is_letter(name.pattern[i - 1]);
    if (is_word_for_steps(word) || is_word_for_epochs(word)) return true;
    if (!is_of_word && word != "rank") return true;
  }
  return false;
}

}  // namespace

const io::FormatKind* format_by_ending(const fs::path& path) {
  const std::string ending = path.extension().string();
  std::string_view other;
  for (const auto& [theirs, format] : kOtherEndings) {
    if (ending == theirs) other = format;
  }
  for (const io::FormatKind& format : io::format_kinds()) {
    if (format.name == other || ending == format.extension ||
        (!format.other_extension.empty() && ending == format.other_extension)) {
      return &format;
    }
  }
  return nullptr;
}

NumberedName numbered_name(const fs::path& path) {
  NumberedName name = numbers_in(without_ending(path));
  const fs::path folder = path.parent_path().filename();
  if (has_own_number(name) || !is_checkpoint_folder(folder.string())) return name;
  NumberedName of_folder = numbers_in(folder.string());
  of_folder.pattern += '/' + without_ending(path);
  of_folder.is_of_folder = true;
  return of_folder;
}

std::size_t step_position(std::span<const NumberedName> names) {
  const NumberedName& first = names.front();
  const auto varies = [&](std::size_t position) {
    return std::ranges::any_of(names, [&](const NumberedName& name) {
      return name.numbers[position] != first.numbers[position];
    });
  };
  return best_position(first, varies).value_or(first.numbers.size() - 1);
}

std::optional<std::int64_t> step_of_convention(const fs::path& path) {
  constexpr std::string_view kPrefix = "step-";
  const std::string name = path.filename().string();
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const std::string_view digits = digits_at(name, kPrefix.size());
  const std::size_t end = kPrefix.size() + digits.size();
  if (digits.empty() || (end < name.size() && name[end] != '.')) return std::nullopt;
  return value_of(digits);
}

std::optional<std::int64_t> step_in_name(const fs::path& path) {
  if (const auto step = step_of_convention(path)) return step;
  const NumberedName name = numbered_name(path);
  const auto position = best_position(name, [](std::size_t) { return true; });
  return position ? name.numbers[*position] : std::nullopt;
}

bool counts_steps(const NumberedName& name) {
  return std::ranges::any_of(name.words, is_word_for_steps);
}

bool counts_epochs(const NumberedName& name) {
  return !counts_steps(name) && std::ranges::any_of(name.words, is_word_for_epochs);
}

bool is_of_step(const NumberedName& name, std::size_t position) {
  return is_word_for_steps(name.words[position]) || is_word_for_epochs(name.words[position]);
}

bool are_comparable(std::span<const NumberedName> names) {
  const auto position_in = [](const NumberedName& name) -> std::optional<std::size_t> {
    const auto position = best_position(name, [](std::size_t) { return true; });
    const bool is_told = position && (name.numbers.size() == 1 || is_of_step(name, *position));
    return is_told ? position : std::nullopt;
  };
  const auto has_unit = [](const NumberedName& name, std::size_t position) {  // the k of 2k
    std::size_t behind = name.pattern.find(kNumber) + 1;
    for (; position > 0; --position) behind = name.pattern.find(kNumber, behind) + 1;
    return behind < name.pattern.size() && is_letter(name.pattern[behind]);
  };
  const auto first = position_in(names.front());
  return first && std::ranges::all_of(names, [&](const NumberedName& name) {
           const auto position = position_in(name);
           return position && !has_unit(name, *position) &&
                  name.words[*position] == names.front().words[*first];
         });
}

fs::path named_run_folder(const fs::path& path) {
  const fs::path folder = path.parent_path();
  return numbered_name(path).is_of_folder ? folder.parent_path() : folder;
}

fs::path run_folder(const fs::path& path) {
  std::error_code error;
  fs::path whole = fs::absolute(path, error);
  if (error) whole = path;
  return named_run_folder(whole.lexically_normal());
}

}  // namespace hesscope::detail
