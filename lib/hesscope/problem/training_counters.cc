// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <hesscope/problem/training_counters.h>

namespace hesscope {
namespace {

constexpr std::array<std::string_view, 8> kCounters = {
    "global_step", "global_steps", "step", "iteration", "iter", "num_updates", "n_iter", "epoch"};

// torch.optim.swa_utils.AveragedModel stores it next to the averages of parameters.
constexpr std::string_view kAveragedModels = "n_averaged";

std::optional<double> number_named(const io::TensorFile& file, const std::string& name) {
  if (const io::TensorInfo* tensor = file.find(name)) {
    if (tensor->num_elements() != 1) return std::nullopt;
    return file.read(name).front();
  }
  return file.number(name);
}

}  // namespace

std::span<const std::string_view> counter_names() { return kCounters; }

std::optional<double> training_number(const io::TensorFile& file,
                                      std::string_view key,
                                      std::string_view name) {
  while (!key.empty()) {
    for (const char separator : {'.', '/'}) {
      const auto found = number_named(file, fmt::format("{}{}{}", key, separator, name));
      if (found) return found;
    }
    const std::size_t last = key.find_last_of("./");
    key = key.substr(0, last == std::string_view::npos ? 0 : last);
  }
  return number_named(file, std::string(name));
}

std::map<std::string, double> training_counters(const io::TensorFile& file, std::string_view key) {
  std::map<std::string, double> found;
  for (const std::string_view name : kCounters) {
    if (const auto number = training_number(file, key, name)) found.emplace(name, *number);
  }
  return found;
}

bool is_training_number(const io::TensorInfo& tensor) {
  return tensor.shape.size() <= 1 && tensor.num_elements() == 1 &&
         (tensor.name == "loss" || tensor.name == kAveragedModels ||
          std::ranges::find(kCounters, tensor.name) != kCounters.end());
}

}  // namespace hesscope
