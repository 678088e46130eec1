// SPDX-License-Identifier: BSD-3-Clause

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/sampling/internal/sampler_support.h>

namespace hesscope::detail {

SettingKey optional_size_key(const std::string& name,
                             const std::string& meaning,
                             std::int64_t maximum) {
  SettingKey key = size_key(name, meaning, maximum);
  key.is_optional = true;
  return key;
}

void require_keys(const Settings& settings,
                  std::initializer_list<const char*> keys,
                  bool are_wanted,
                  const std::string& because) {
  for (const char* key : keys) {
    if (settings.has(key) == are_wanted) continue;
    settings.refuse(
        key,
        fmt::format("{} {} the key '{}'", because, are_wanted ? "needs" : "does not take", key));
  }
}

SettingKey seed_key(const std::string& name, const std::string& meaning) {
  return {.name = name,
          .type = SettingKey::Type::kInteger,
          .meaning = meaning,
          .minimum = 0,
          .fallback = SettingValue(std::int64_t{0})};
}

std::uint64_t seed_from(const Settings& settings, const std::string& key) {
  return static_cast<std::uint64_t>(settings.integer(key));
}

void require_record(const Sampler& sampler, std::span<const double> record) {
  if (static_cast<std::int64_t>(record.size()) == sampler.record_size()) return;
  throw PreconditionError(fmt::format(
      "Sampler::draw: record must have {} entries, got {}", sampler.record_size(), record.size()));
}

Eigen::MatrixXd normal_matrix(RandomStream& random,
                              Eigen::Index rows,
                              Eigen::Index cols,
                              double std) {
  Eigen::MatrixXd entries(rows, cols);
  for (Eigen::Index r = 0; r < rows; ++r) {
    for (Eigen::Index c = 0; c < cols; ++c) entries(r, c) = std * random.normal();
  }
  return entries;
}

// Floyd's selection of a subset, whose members are marked by ones until all are known: Bentley &
// Floyd (1987), "A sample of brilliance".
void draw_sparse_noise(RandomStream& random, std::size_t count, double std, std::span<double> out) {
  for (std::size_t last = out.size() - count; last < out.size(); ++last) {
    double& entry = out[random.below(last + 1)];
    (entry == 0 ? entry : out[last]) = 1;
  }
  for (double& entry : out) {
    if (entry != 0) entry = std * random.normal();
  }
}

}  // namespace hesscope::detail
