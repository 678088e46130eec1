// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/extents.h>
#include <hesscope/core/shape.h>
#include <hesscope/objective/sample_table.h>

namespace hesscope {
namespace {

// -100 is what PyTorch's losses leave out unless told otherwise.
std::string advice_on_class(double found) {
  return found == -100 ? " (`ignore_index = -100` in [model] leaves such targets out)" : "";
}

}  // namespace

namespace detail {

void require_record(const char* function, const Model& model) {
  Eigen::Index next = 0;
  for (const DataArray& array : model.arrays) {
    const auto count = num_entries(array.shape).value_or(0);
    const bool fits = array.content == DataArray::Content::kClass
                          ? count > 0 && array.width >= count && array.width % count == 0
                          : count > 0 && array.width == count;
    if (!fits || array.offset != next || __builtin_add_overflow(next, array.width, &next)) {
      throw PreconditionError(fmt::format(
          "{}: array '{}' of the model has the offset {} and the width {} in a record: it "
          "must follow those before, with a place for each entry of its shape {}",
          function,
          array.name,
          array.offset,
          array.width,
          shape_text(array.shape)));
    }
  }
}

std::optional<BadEntry> put_entries(const DataArray& array, const double* values, double* record) {
  double* const out = record + array.offset;
  const Eigen::Index count = array.num_values();
  switch (array.content) {
    case DataArray::Content::kReal:
      std::copy_n(values, count, out);
      return std::nullopt;
    case DataArray::Content::kClass: {
      const Eigen::Index num_classes = array.num_classes();
      for (Eigen::Index e = 0; e < count; ++e) {
        const double c = values[e];
        if (!(c >= 0 && c < static_cast<double>(num_classes) && c == std::floor(c))) {
          return BadEntry{
              c, fmt::format("a class index 0 ... {}{}", num_classes - 1, advice_on_class(c))};
        }
        out[e * num_classes + static_cast<Eigen::Index>(c)] = 1;
      }
      return std::nullopt;
    }
    case DataArray::Content::kSign:
      for (Eigen::Index e = 0; e < count; ++e) {
        if (!(std::abs(values[e]) == 1)) return BadEntry{values[e], "+1 or -1"};
        out[e] = values[e];
      }
      return std::nullopt;
    case DataArray::Content::kInteger:
      for (Eigen::Index e = 0; e < count; ++e) {
        const double i = values[e];
        if (!(i >= static_cast<double>(array.minimum) && i <= static_cast<double>(array.maximum) &&
              i == std::floor(i))) {
          return BadEntry{i,
                          fmt::format("a whole number {} ... {}{}{}",
                                      array.minimum,
                                      array.maximum,
                                      array.reason.empty() ? "" : ", " + array.reason,
                                      advice_on_class(i))};
        }
        out[e] = i;
      }
      return std::nullopt;
    case DataArray::Content::kProbability:
      for (Eigen::Index e = 0; e < count; ++e) {
        if (!(values[e] >= 0 && values[e] <= 1)) {
          return BadEntry{values[e], "a probability, from 0 to 1"};
        }
        out[e] = values[e];
      }
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace detail

SampleTable make_sample_table(
    const Model& model,
    Eigen::Index num_samples,
    const std::function<std::vector<double>(const std::string& name)>& read,
    const std::string& source) {
  if (num_samples < 0 || !read) {
    throw PreconditionError(fmt::format(
        "make_sample_table: expected a function `read` and at least 0 samples, got {}{} "
        "samples",
        read ? "" : "no function and ",
        num_samples));
  }
  detail::require_record("make_sample_table", model);
  SampleTable table = SampleTable::Zero(num_samples, model.record_size());
  for (const DataArray& array : model.arrays) {
    const std::vector<double> values = read(array.name);
    const Eigen::Index per_sample = array.num_values();
    if (static_cast<Eigen::Index>(values.size()) != num_samples * per_sample) {
      throw InputError(fmt::format("{}: array '{}': expected {} numbers, found {}",
                                   source,
                                   array.name,
                                   num_samples * per_sample,
                                   values.size()));
    }
    for (Eigen::Index i = 0; i < num_samples; ++i) {
      const std::span<const double> sample(values.data() + i * per_sample,
                                           static_cast<std::size_t>(per_sample));
      std::optional<detail::BadEntry> bad =
          detail::put_entries(array, sample.data(), table.row(i).data());
      const auto odd = std::ranges::find_if_not(sample, [](double x) { return std::isfinite(x); });
      if (!bad && odd != sample.end()) bad = {*odd, "finite numbers"};
      if (!bad) continue;
      throw InputError(fmt::format("{}: array '{}', sample {}: expected {}, found {}",
                                   source,
                                   array.name,
                                   i,
                                   bad->expected,
                                   bad->found));
    }
  }
  return table;
}

}  // namespace hesscope
