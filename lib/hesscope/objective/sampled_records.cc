// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/core/memory.h>
#include <hesscope/objective/sampled_records.h>

namespace hesscope {

using Content = DataArray::Content;

TensorShapes shapes_of(const Sampler& sampler,
                       std::int64_t num_samples,
                       const std::string& source) {
  TensorShapes shapes;
  shapes.source = source;
  for (const SampledArray& array : sampler.arrays()) {
    std::vector<std::int64_t>& shape = shapes.shapes[array.name];
    shape = {num_samples};
    shape.insert(shape.end(), array.shape.begin(), array.shape.end());
  }
  return shapes;
}

SampledRecords::SampledRecords(const Model& model, const Sampler& sampler, std::string source)
    : sampler_(&sampler), source_(std::move(source)), record_size_(model.record_size()) {
  detail::require_record("SampledRecords", model);
  require_arrays(model, shapes_of(sampler, 1, source_));
  is_direct_ = sampler.record_size() == record_size_;
  for (const DataArray& array : model.arrays) {
    const auto found =
        std::find_if(sampler.arrays().begin(), sampler.arrays().end(), [&](const auto& sampled) {
          return sampled.name == array.name;
        });
    parts_.push_back({array, found->offset});
    is_direct_ = is_direct_ && array.content == Content::kReal && found->offset == array.offset;
  }
}

void SampledRecords::write(std::uint64_t seed,
                           Stream stream,
                           std::uint64_t first,
                           std::span<double> records) const {
  const auto size = static_cast<std::size_t>(record_size_);
  if (size == 0) return;  // a model without data arrays
  std::vector<double> sampled;
  if (!is_direct_) sampled.resize(static_cast<std::size_t>(sampler_->record_size()));
  for (std::uint64_t i = 0; (i + 1) * size <= records.size(); ++i) {
    const std::span<double> record = records.subspan(i * size, size);
    if (is_direct_) {
      sampler_->draw(seed, stream, first + i, record);
    } else {
      sampler_->draw(seed, stream, first + i, sampled);
      convert(first + i, sampled, record);
    }
  }
}

void SampledRecords::convert(std::uint64_t index,
                             std::span<const double> from,
                             std::span<double> to) const {
  std::fill(to.begin(), to.end(), 0.0);
  for (const Part& part : parts_) {
    const auto bad = detail::put_entries(part.array, from.data() + part.offset, to.data());
    if (!bad) continue;
    throw InputError(fmt::format("{}: array '{}', sample {}: expected {}, found {}",
                                 source_,
                                 part.array.name,
                                 index,
                                 bad->expected,
                                 bad->found));
  }
}

SampleTable SampledRecords::table(std::uint64_t seed,
                                  Stream stream,
                                  Eigen::Index num_samples,
                                  const Executor& executor) const {
  if (num_samples < 1) {
    throw PreconditionError(
        fmt::format("SampledRecords::table: there must be samples, got {}", num_samples));
  }
  require_memory(
      static_cast<double>(num_samples) * static_cast<double>(record_size_) * sizeof(double),
      fmt::format(
          "{}: a table of {} samples of {} numbers each", source_, num_samples, record_size_));
  SampleTable samples(num_samples, record_size_);
  constexpr Eigen::Index kSamplesPerTask = 64;
  executor.for_each(detail::ceil_div(num_samples, kSamplesPerTask), [&](Eigen::Index task) {
    const Eigen::Index first = task * kSamplesPerTask;
    auto rows = samples.middleRows(first, std::min(kSamplesPerTask, num_samples - first));
    write(seed,
          stream,
          static_cast<std::uint64_t>(first),
          {rows.data(), static_cast<std::size_t>(rows.size())});
  });
  return samples;
}

}  // namespace hesscope
