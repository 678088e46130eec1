// SPDX-License-Identifier: BSD-3-Clause
//
// Progress of work that is made of parts, by what each was foreseen to cost.
#pragma once

#include <list>

#include <hesscope/core/progress.h>

namespace hesscope {

/// Parts begin and end as they come, within each other, too: each moves the whole by its own cost.
/// The fraction of the whole never goes back, whatever was foreseen. Not safe for concurrent use.
class ProgressMeter {
  struct OpenPart {
    double cost;
    double fraction;
  };

 public:
  /// From its making to the end of its life.
  class Part {
   public:
    Part(ProgressMeter& meter, double cost);
    ~Part();
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

    /// To be called while the part lives; empty where nobody asks for the whole.
    const ProgressCallback& progress() const { return progress_; }

   private:
    ProgressMeter* meter_;
    std::list<OpenPart>::iterator self_;
    ProgressCallback progress_;
  };

  /// @param total  the cost of all parts, in the unit of theirs; at least 0.
  ProgressMeter(ProgressCallback whole, double total);
  ProgressMeter(const ProgressMeter&) = delete;
  ProgressMeter& operator=(const ProgressMeter&) = delete;

 private:
  bool show();

  ProgressCallback whole_;
  double total_;
  double done_ = 0;   // of parts that ended
  double shown_ = 0;  // fraction
  std::list<OpenPart> open_;
};

}  // namespace hesscope
