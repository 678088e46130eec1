// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/sampling/internal/sampler_support.h>
#include <hesscope/sampling/pathfinder.h>

namespace hesscope {
namespace {

struct Cell {
  std::int64_t row = 0;
  std::int64_t col = 0;
};

// An image on which paths are drawn one after the other.
class Canvas {
 public:
  explicit Canvas(std::int64_t side) : side_(side), cells_(static_cast<std::size_t>(side * side)) {}

  // Draws a walk of this length from a random pixel; false if it gets stuck.
  bool add_path(RandomStream& random, std::int64_t length) {
    ++num_paths_;
    const auto side = static_cast<std::uint64_t>(side_);
    Cell next = {static_cast<std::int64_t>(random.below(side)),
                 static_cast<std::int64_t>(random.below(side))};
    if (!is_free(next, 0)) return false;
    first_.push_back(next);
    for (std::int64_t position = 0;; ++position) {
      at(next) = {num_paths_, position};
      if (position + 1 == length) break;
      std::array<Cell, 4> choices;
      std::size_t count = 0;
      for (const auto& [dr, dc] : {std::pair{0, 1}, {1, 0}, {0, -1}, {-1, 0}}) {
        const Cell neighbour = {next.row + dr, next.col + dc};
        if (is_free(neighbour, position + 1)) choices[count++] = neighbour;
      }
      if (count == 0) return false;
      next = choices[random.below(count)];
    }
    last_.push_back(next);
    return true;
  }

  // Ends of path 0, 1, ...
  const Cell& first(std::size_t path) const { return first_[path]; }

  const Cell& last(std::size_t path) const { return last_[path]; }

  // Row by row.
  std::vector<double> pixels(std::span<const Cell> dots) const {
    std::vector<double> values;
    for (const Mark& mark : cells_) {
      values.push_back(mark.path > 0 && mark.position % 3 != 2 ? 0.5 : 0.0);
    }
    for (const Cell& dot : dots) values[index(dot)] = 1;
    return values;
  }

 private:
  struct Mark {
    int path = 0;  // 0: none
    std::int64_t position = 0;
  };

  std::size_t index(const Cell& cell) const {
    return static_cast<std::size_t>(cell.row * side_ + cell.col);
  }

  Mark& at(const Cell& cell) { return cells_[index(cell)]; }

  bool is_inside(const Cell& cell) const {
    return cell.row >= 0 && cell.row < side_ && cell.col >= 0 && cell.col < side_;
  }

  // Whether the current path may have its pixel `position` here: there must be no other path within
  // two pixels, and of its own pixels only the two preceding ones within one.
  bool is_free(const Cell& cell, std::int64_t position) const {
    if (!is_inside(cell) || cells_[index(cell)].path != 0) return false;
    for (std::int64_t dr = -2; dr <= 2; ++dr) {
      for (std::int64_t dc = -2; dc <= 2; ++dc) {
        const Cell near = {cell.row + dr, cell.col + dc};
        if (!is_inside(near)) continue;
        const Mark& mark = cells_[index(near)];
        if (mark.path == 0) continue;
        if (mark.path != num_paths_) return false;
        const bool is_adjacent = std::max(std::abs(dr), std::abs(dc)) <= 1;
        if (is_adjacent && mark.position < position - 2) return false;
      }
    }
    return true;
  }

  std::int64_t side_;
  std::vector<Mark> cells_;
  int num_paths_ = 0;
  std::vector<Cell> first_, last_;
};

// Draws all paths; false if one gets stuck.
bool lay_paths(RandomStream& random, const PathfinderOptions& options, Canvas& canvas) {
  for (int path = 0; path < 2; ++path) {
    if (!canvas.add_path(random, options.path_length)) return false;
  }
  for (std::int64_t path = 0; path < options.distractors; ++path) {
    if (!canvas.add_path(random, options.distractor_length)) return false;
  }
  return true;
}

}  // namespace

bool Pathfinder::fits(const PathfinderOptions& options) {
  RandomStream random(0, Stream::kTask, 0);
  for (int attempt = 0; attempt < 1000; ++attempt) {
    Canvas canvas(options.side);
    if (lay_paths(random, options, canvas)) return true;
  }
  return false;
}

Pathfinder::Pathfinder(const PathfinderOptions& options)
    : options_(options),
      embedding_(
          options.patch * options.patch,
          options.patch > 0 ? (options.side / options.patch) * (options.side / options.patch) : 0,
          options.embedding,
          options.embedding_seed) {
  if (options.side < 1 || options.path_length < 3 || options.distractors < 0 ||
      options.distractor_length < 1 || options.side % options.patch != 0 || !fits(options)) {
    throw PreconditionError(fmt::format(
        "Pathfinder: needs patches that divide the side, path_length >= 3, and paths that fit; got "
        "side {}, patch {}, path_length {}, {} distractors of {}",
        options.side,
        options.patch,
        options.path_length,
        options.distractors,
        options.distractor_length));
  }
  const std::int64_t edge = options.side / options.patch;
  add_array("inputs", {edge * edge, embedding_.width()});
  add_array("target", {});
}

void Pathfinder::draw(std::uint64_t seed,
                      Stream stream,
                      std::uint64_t index,
                      std::span<double> record) const {
  detail::require_record(*this, record);
  RandomStream random(seed, stream, index);
  const bool is_joined = random.below(2) == 1;
  Canvas canvas(options_.side);
  while (!lay_paths(random, options_, canvas)) canvas = Canvas(options_.side);
  const std::array<Cell, 2> dots = {canvas.first(0), is_joined ? canvas.last(0) : canvas.last(1)};
  const std::vector<double> pixels = canvas.pixels(dots);

  const auto side = static_cast<std::size_t>(options_.side);
  const auto patch = static_cast<std::size_t>(options_.patch);
  const auto width = static_cast<std::size_t>(embedding_.width());
  const std::size_t edge = side / patch;
  std::vector<double> features(patch * patch);
  for (std::size_t t = 0; t < edge * edge; ++t) {
    for (std::size_t r = 0; r < patch; ++r) {
      const std::size_t row = t / edge * patch + r;
      const auto begin =
          pixels.begin() + static_cast<std::ptrdiff_t>(row * side + t % edge * patch);
      std::copy_n(begin, patch, features.begin() + static_cast<std::ptrdiff_t>(r * patch));
    }
    embedding_.embed(static_cast<std::int64_t>(t), features, record.subspan(t * width, width));
  }
  record.back() = is_joined ? 1 : 0;
}

SamplerKind pathfinder_kind() {
  const auto integer = [](const char* name,
                          const char* meaning,
                          std::int64_t minimum,
                          std::int64_t maximum,
                          std::int64_t fallback) {
    return SettingKey{.name = name,
                      .type = SettingKey::Type::kInteger,
                      .meaning = meaning,
                      .minimum = minimum,
                      .maximum = maximum,
                      .fallback = SettingValue(fallback)};
  };
  std::vector<SettingKey> keys = {
      integer("side", "L, pixels along an edge", 4, 1024, 16),
      integer("path_length", "pixels of the two long paths", 3, 10000, 8),
      integer("distractors", "further, short paths", 0, 1000, 2),
      integer("distractor_length", "pixels of these", 1, 10000, 4),
      integer("patch", "p, pixels along the edge of a token", 1, 1024, 1)};
  for (SettingKey& key : detail::embedding_keys()) keys.push_back(std::move(key));
  return {
      .name = "pathfinder",
      .summary = "small images with two dots that a dashed path joins or not",
      .keys = std::move(keys),
      .create =
          [](const Settings& settings, const std::filesystem::path& /*folder*/) {
            const PathfinderOptions options = {
                .side = settings.integer("side"),
                .path_length = settings.integer("path_length"),
                .distractors = settings.integer("distractors"),
                .distractor_length = settings.integer("distractor_length"),
                .patch = settings.integer("patch"),
                .embedding = settings.integer("embedding"),
                .embedding_seed = detail::seed_from(settings, "embedding_seed")};
            if (options.side % options.patch != 0) {
              settings.refuse("patch",
                              fmt::format("'patch' must divide 'side', which is {}, got {}",
                                          options.side,
                                          options.patch));
            }
            if (!Pathfinder::fits(options)) {
              settings.refuse(
                  "side",
                  fmt::format("two paths of {} pixels and {} of {} do not fit on {} x {}; make "
                              "'side' larger, or paths shorter or fewer",
                              options.path_length,
                              options.distractors,
                              options.distractor_length,
                              options.side,
                              options.side));
            }
            return std::make_unique<Pathfinder>(options);
          },
  };
}

}  // namespace hesscope
