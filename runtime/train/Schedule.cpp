// SPDX-License-Identifier: Apache-2.0
// Parsing and evaluation of learning-rate schedules.

#include "runtime/train/Schedule.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <string_view>

namespace hpcc::runtime {

namespace {

bool parseNumber(std::string_view text, double &value) {
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() &&
         std::isfinite(value);
}

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end; (end = text.find(separator, begin)) != std::string::npos;
       begin = end + 1)
    parts.push_back(text.substr(begin, end - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

} // namespace

int64_t Schedule::Length::steps(int64_t stepsPerEpoch) const {
  double count =
      epochs ? std::round(value * static_cast<double>(stepsPerEpoch)) : value;
  return std::max<int64_t>(static_cast<int64_t>(count), 1);
}

bool Schedule::parseLength(const std::string &text, Length &length) {
  length.epochs = text.ends_with('e');
  std::string number = length.epochs ? text.substr(0, text.size() - 1) : text;
  // 1e12 steps are more than any training; larger ones would not convert.
  return parseNumber(number, length.value) && length.value > 0 &&
         length.value <= 1e12 &&
         (length.epochs || length.value == std::floor(length.value));
}

Result<Schedule> Schedule::parse(const std::string &text) {
  Schedule schedule;
  schedule.source = text;
  auto wrong = [&](const std::string &what) {
    return invalidArgument(
        "--lr-schedule '" + text + "': " + what +
        "; expected constant, step:LENGTH:GAMMA, drops:P,P,...:GAMMA or "
        "cosine[:FLOOR], optionally after warmup:LENGTH+ (LENGTH: steps, or "
        "epochs as in 2e)");
  };
  std::string main = text;
  constexpr std::string_view kWarmup = "warmup:";
  if (main.starts_with(kWarmup)) {
    size_t plus = main.find('+');
    std::string length = main.substr(
        kWarmup.size(),
        plus == std::string::npos ? std::string::npos : plus - kWarmup.size());
    if (!parseLength(length, schedule.warmup))
      return wrong("'" + length + "' is not a length");
    main = plus == std::string::npos ? "constant" : main.substr(plus + 1);
  }
  std::vector<std::string> parts = split(main, ':');
  if (parts[0] == "constant" && parts.size() == 1)
    return schedule;
  if (parts[0] == "step" && parts.size() == 3) {
    schedule.kind = Kind::Step;
    if (!parseLength(parts[1], schedule.every))
      return wrong("'" + parts[1] + "' is not a length");
    if (!parseNumber(parts[2], schedule.gamma) || schedule.gamma <= 0)
      return wrong("'" + parts[2] + "' is not a factor greater than 0");
    return schedule;
  }
  if (parts[0] == "drops" && parts.size() == 3) {
    schedule.kind = Kind::Drops;
    for (const std::string &part : split(parts[1], ',')) {
      double position = 0;
      if (!parseNumber(part, position) || position <= 0 || position >= 1)
        return wrong("'" + part + "' is not a fraction between 0 and 1");
      schedule.drops.push_back(position);
    }
    if (!parseNumber(parts[2], schedule.gamma) || schedule.gamma <= 0)
      return wrong("'" + parts[2] + "' is not a factor greater than 0");
    return schedule;
  }
  if (parts[0] == "cosine" && parts.size() <= 2) {
    schedule.kind = Kind::Cosine;
    if (parts.size() == 2 && (!parseNumber(parts[1], schedule.floor) ||
                              schedule.floor < 0 || schedule.floor > 1))
      return wrong("'" + parts[1] + "' is not a fraction from 0 to 1");
    return schedule;
  }
  return wrong("'" + main + "' is no schedule");
}

void Schedule::setLengths(int64_t totalSteps, int64_t stepsPerEpoch) {
  total = totalSteps;
  warmupSteps = warmup.value > 0 ? warmup.steps(stepsPerEpoch) : 0;
  everySteps = kind == Kind::Step ? every.steps(stepsPerEpoch) : 1;
}

double Schedule::mainFactor(int64_t done) const {
  switch (kind) {
  case Kind::Constant:
    return 1;
  case Kind::Step:
    return std::pow(gamma, static_cast<double>(done / everySteps));
  case Kind::Drops: {
    // A thousandth of a step absorbs the rounding of P * T, so that 0.1 of
    // 1000 steps is step 100 exactly.
    int64_t passed =
        std::count_if(drops.begin(), drops.end(), [&](double position) {
          return static_cast<double>(done) >=
                 position * static_cast<double>(total) - 1e-3;
        });
    return std::pow(gamma, static_cast<double>(passed));
  }
  case Kind::Cosine: {
    if (total <= warmupSteps)
      return 1;
    double progress = static_cast<double>(done - warmupSteps) /
                      static_cast<double>(total - warmupSteps);
    progress = std::clamp(progress, 0.0, 1.0);
    return floor +
           (1 - floor) * (1 + std::cos(std::numbers::pi * progress)) / 2;
  }
  }
  return 1;
}

double Schedule::factor(int64_t done) const {
  if (done >= warmupSteps)
    return mainFactor(done);
  return mainFactor(warmupSteps) * static_cast<double>(done + 1) /
         static_cast<double>(warmupSteps);
}

} // namespace hpcc::runtime
