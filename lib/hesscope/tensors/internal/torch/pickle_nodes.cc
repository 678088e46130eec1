// SPDX-License-Identifier: BSD-3-Clause
#include <bit>
#include <utility>

#include <hesscope/tensors/internal/torch/pickle_nodes.h>

namespace hesscope::io {
namespace {

constexpr std::uint32_t kNoLink = 0xFFFFFFFF;

}  // namespace

std::string_view to_string(PickleKind kind) {
  constexpr std::array<std::string_view, 14> kNames = {"None",
                                                       "a truth value",
                                                       "an integer",
                                                       "an integer beyond 64 bits",
                                                       "a float",
                                                       "a text",
                                                       "bytes",
                                                       "a tuple",
                                                       "a list",
                                                       "a set",
                                                       "a dict",
                                                       "a class or function",
                                                       "a storage",
                                                       "an object"};
  return kNames.at(static_cast<std::size_t>(kind));
}

PickleDocument::PickleDocument(std::string bytes, std::size_t limit)
    : bytes_(std::move(bytes)), limit_(limit) {}

std::uint64_t PickleDocument::bits(PickleIndex node) const {
  const auto& words = nodes_[node].words;
  return words[0] | (std::uint64_t{words[1]} << 32);
}

std::int64_t PickleDocument::integer(PickleIndex node) const {
  return static_cast<std::int64_t>(bits(node));
}

double PickleDocument::real(PickleIndex node) const { return std::bit_cast<double>(bits(node)); }

std::string_view PickleDocument::text(PickleIndex node) const {
  const auto& words = nodes_[node].words;
  return std::string_view(words[2] == 0 ? bytes_ : names_).substr(words[0], words[1]);
}

bool PickleDocument::is_global(PickleIndex node,
                               std::string_view module,
                               std::string_view name) const {
  if (node == kNoNode || kind(node) != PickleKind::kGlobal) return false;
  const std::string_view both = text(node);
  return both.size() == module.size() + 1 + name.size() && both.starts_with(module) &&
         both[module.size()] == '\n' && both.ends_with(name);
}

std::vector<PickleIndex> PickleDocument::elements(PickleIndex node) const {
  std::vector<PickleIndex> all;
  all.reserve(num_elements(node));
  std::uint32_t link = num_elements(node) == 0 ? kNoLink : nodes_[node].words[0];
  for (; link != kNoLink; link = links_[link].next) all.push_back(links_[link].element);
  return all;
}

PickledObject PickleDocument::object(PickleIndex node) const {
  const auto& words = nodes_[node].words;
  return {words[0], words[1], words[2], words[3]};
}

PickleIndex PickleDocument::add(PickleKind kind, std::size_t offset) {
  if (nodes_.size() >= limit_) return kNoNode;
  nodes_.push_back({.kind = kind, .offset = static_cast<std::uint32_t>(offset)});
  return static_cast<PickleIndex>(nodes_.size() - 1);
}

PickleIndex PickleDocument::add_integer(PickleKind kind, std::int64_t value, std::size_t offset) {
  const PickleIndex node = add(kind, offset);
  if (node == kNoNode) return node;
  const auto bits = static_cast<std::uint64_t>(value);
  nodes_[node].words = {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
  return node;
}

PickleIndex PickleDocument::add_real(double value, std::size_t offset) {
  return add_integer(PickleKind::kReal, std::bit_cast<std::int64_t>(value), offset);
}

PickleIndex PickleDocument::add_text(PickleKind kind,
                                     std::span<const std::byte> text,
                                     std::size_t offset) {
  const PickleIndex node = add(kind, offset);
  if (node == kNoNode) return node;
  const auto begin = text.empty() ? 0 : text.data() - bytes().data();
  nodes_[node].words = {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(text.size())};
  return node;
}

PickleIndex PickleDocument::add_named(std::string_view module,
                                      std::string_view name,
                                      std::size_t offset) {
  constexpr std::size_t kMaxBytes = std::size_t{64} << 20;  // in total: a memo can repeat long ones
  const std::size_t size = module.size() + 1 + name.size();
  if (size > kMaxBytes - names_.size()) return kNoNode;
  const PickleIndex node = add(PickleKind::kGlobal, offset);
  if (node == kNoNode) return node;
  nodes_[node].words = {
      static_cast<std::uint32_t>(names_.size()), static_cast<std::uint32_t>(size), 1};
  names_.append(module).append(1, '\n').append(name);
  return node;
}

PickleIndex PickleDocument::add_object(const PickledObject& object, std::size_t offset) {
  const PickleIndex node = add(PickleKind::kObject, offset);
  if (node != kNoNode) set_object(node, object);
  return node;
}

PickleIndex PickleDocument::add_persistent(PickleIndex identifier, std::size_t offset) {
  const PickleIndex node = add(PickleKind::kPersistent, offset);
  if (node != kNoNode) nodes_[node].words[0] = identifier;
  return node;
}

bool PickleDocument::append(PickleIndex container, PickleIndex element) {
  if (links_.size() >= limit_) return false;
  const auto link = static_cast<std::uint32_t>(links_.size());
  links_.push_back({element, kNoLink});
  auto& [first, last, count, unused] = nodes_[container].words;
  if (count++ == 0) {
    first = link;
  } else {
    links_[last].next = link;
  }
  last = link;
  return true;
}

void PickleDocument::set_object(PickleIndex node, const PickledObject& object) {
  nodes_[node].words = {object.callable, object.arguments, object.contents, object.state};
}

}  // namespace hesscope::io
