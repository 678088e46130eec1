// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include <hesscope/analyzers/progress_meter.h>

namespace hesscope {

ProgressMeter::ProgressMeter(ProgressCallback whole, double total)
    : whole_(std::move(whole)), total_(total) {}

bool ProgressMeter::show() {
  double done = done_;
  for (const OpenPart& part : open_) done += part.cost * part.fraction;
  if (total_ > 0) shown_ = std::clamp(done / total_, shown_, 1.0);
  return whole_(shown_);
}

ProgressMeter::Part::Part(ProgressMeter& meter, double cost)
    : meter_(&meter), self_(meter.open_.insert(meter.open_.end(), {cost, 0})) {
  if (!meter.whole_) return;
  progress_ = [this](double fraction) {
    self_->fraction = fraction;
    return meter_->show();
  };
}

ProgressMeter::Part::~Part() {
  meter_->done_ += self_->cost;
  meter_->open_.erase(self_);
}

}  // namespace hesscope
