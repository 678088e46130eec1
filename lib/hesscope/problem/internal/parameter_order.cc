// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <hesscope/problem/internal/name_words.h>
#include <hesscope/problem/internal/parameter_order.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope::detail {
namespace {

bool fits(const NumberedParameter& numbered, const ListedParameter& listed) {
  return !numbered.shape || *numbered.shape == listed.shape;
}

// Ways to distribute the listed parameters, in this order, over the groups, each of which receives
// them in the order of its numbers.
class Dealing {
 public:
  Dealing(const std::vector<ListedParameter>& listed,
          const std::vector<NumberedParameter>& numbered,
          std::vector<std::size_t> order)
      : listed_(listed), numbered_(numbered), order_(std::move(order)) {
    for (std::size_t k = 0; k < numbered.size(); ++k) hands_[numbered[k].group].push_back(k);
    taken_.resize(numbered.size());
    deal(0);
  }

  bool is_impossible() const { return found_.empty() && num_steps_ < kMaxSteps; }

  bool is_unique() const { return found_.size() == 1 && num_steps_ < kMaxSteps; }

  // By number, the position in `listed`.
  const std::vector<std::size_t>& positions() const { return found_.front(); }

 private:
  static constexpr std::size_t kMaxSteps = 100'000;

  void deal(std::size_t turn) {
    if (found_.size() > 1 || ++num_steps_ >= kMaxSteps) return;
    if (turn == order_.size()) {
      found_.push_back(taken_);
      return;
    }
    for (auto& [group, hand] : hands_) {
      std::size_t& next = next_[group];
      if (next == hand.size() || !fits(numbered_[hand[next]], listed_[order_[turn]])) continue;
      taken_[hand[next]] = order_[turn];
      ++next;
      deal(turn + 1);
      --next_[group];
    }
  }

  const std::vector<ListedParameter>& listed_;
  const std::vector<NumberedParameter>& numbered_;
  std::vector<std::size_t> order_;
  std::map<std::size_t, std::vector<std::size_t>> hands_;  // numbers in each group
  std::map<std::size_t, std::size_t> next_;                // next position in the hand
  std::vector<std::size_t> taken_;
  std::size_t num_steps_ = 0;
  std::vector<std::vector<std::size_t>> found_;
};

// Positions by number, if each shape occurs only once.
std::optional<std::vector<std::size_t>> by_shape(const std::vector<ListedParameter>& listed,
                                                 const std::vector<NumberedParameter>& numbered) {
  std::map<std::vector<std::int64_t>, std::size_t> places;
  for (std::size_t i = 0; i < listed.size(); ++i) {
    if (!places.emplace(listed[i].shape, i).second) return std::nullopt;
  }
  std::vector<std::size_t> positions;
  std::set<std::size_t> seen;
  for (const NumberedParameter& each : numbered) {
    const auto found = each.shape ? places.find(*each.shape) : places.end();
    if (found == places.end() || !seen.insert(found->second).second) return std::nullopt;
    positions.push_back(found->second);
  }
  return positions;
}

ParameterOrder taken(const std::vector<ListedParameter>& listed,
                     const std::vector<std::size_t>& positions,
                     std::string warning = {}) {
  ParameterOrder order{.warning = std::move(warning)};
  for (const std::size_t position : positions) order.blocks.push_back(listed[position].block);
  return order;
}

bool are_in_order_of_numbers(const std::vector<ListedParameter>& listed) {
  return std::ranges::is_sorted(listed, is_before_by_numbers, [](const ListedParameter& each) {
    return std::string_view(each.name);
  });
}

// The first place where the checkpoint's order and the shapes disagree.
std::string contradiction(const std::vector<ListedParameter>& listed,
                          const std::vector<NumberedParameter>& numbered) {
  for (std::size_t k = 0; k < numbered.size(); ++k) {
    if (fits(numbered[k], listed[k])) continue;
    return fmt::format("parameter {} has shape {}, but '{}' has {}",
                       k,
                       shape_text(*numbered[k].shape),
                       listed[k].name,
                       shape_text(listed[k].shape));
  }
  return "no order of its groups fits the shapes";
}

}  // namespace

std::string text_of_other_number(std::size_t theirs, std::size_t ours) {
  return fmt::format("it is of {} parameters, the model has {}", theirs, ours);
}

ParameterOrder order_parameters(const std::vector<ListedParameter>& listed,
                                const std::vector<NumberedParameter>& numbered,
                                bool keeps_order) {
  if (listed.size() != numbered.size()) {
    return {.obstacle = text_of_other_number(numbered.size(), listed.size())};
  }
  if (const auto positions = by_shape(listed, numbered)) return taken(listed, *positions);
  std::vector<std::size_t> as_listed(listed.size());
  std::iota(as_listed.begin(), as_listed.end(), std::size_t{0});
  const Dealing dealt(listed, numbered, as_listed);
  std::vector<std::size_t> as_in_model = as_listed;
  std::ranges::sort(as_in_model, {}, [&](std::size_t i) { return listed[i].block; });
  const bool is_sorted =
      as_in_model != as_listed && std::ranges::is_sorted(listed, {}, &ListedParameter::name);
  if (is_sorted) {
    const Dealing natural(listed, numbered, as_in_model);
    const bool agree =
        natural.is_unique() && dealt.is_unique() && natural.positions() == dealt.positions();
    if (natural.is_unique() && !agree && keeps_order && are_in_order_of_numbers(listed)) {
      return {.obstacle = fmt::format(
                  "the parameters '{}', '{}', ... stand in alphabetical order and otherwise in the "
                  "model: nothing says whether the optimiser numbers them as the checkpoint lists "
                  "them or as the model does",
                  listed[0].name,
                  listed[1].name),
              .is_open = true};
    }
    if (natural.is_unique() && !agree) {
      return taken(listed,
                   natural.positions(),
                   fmt::format("the parameters '{}', '{}', ... stand in alphabetical order, as "
                               "where a state_dict was sorted before it was saved, and the "
                               "optimiser numbers them otherwise or may do so; they are taken in "
                               "the order of the model, which nothing in the file confirms",
                               listed[0].name,
                               listed[1].name));
    }
  }
  if (dealt.is_unique()) return taken(listed, dealt.positions());
  if (dealt.is_impossible()) return {.obstacle = contradiction(listed, numbered)};
  return {.obstacle =
              "it has several groups of parameters, and neither names nor shapes say which "
              "parameter is in which",
          .is_open = true};
}

}  // namespace hesscope::detail
