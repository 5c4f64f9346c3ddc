#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "why/facts.h"

namespace mindgate::why {

enum class State : uint8_t {
  kPending,    // pods are missing or have no node
  kGated,      // a scheduling gate holds pods
  kHanging,    // pods have a node and do not serve, or are on faulty hardware
  kRestarted,  // it was restarted
  kWaiting,    // containers wait
  kRunning,
  kDone,
};
std::string_view StateName(State state);  // "pending"

// Why something is as it is. Texts of objects stand in it as they are: whoever prints it escapes.
struct Reason {
  std::string id{};  // "not-enough-npus"
  State state = State::kPending;
  std::string what{};  // one sentence with the object, field or value
  std::string why{};   // a sentence; may be empty
  std::string fix{};   // what to do
  std::vector<std::string> evidence{};
  bool operator==(const Reason&) const = default;
};

struct Answer {
  State state = State::kRunning;
  std::vector<Reason> reasons{};  // the most likely first; never empty
};

// Pure: the same facts give the same answer.
Answer WhyIsIt(const Facts& facts);

// Whether there is nothing to wait for: it runs, or has ended.
bool IsSettled(const Answer& answer);

// Of every reason there is, the most likely first.
std::vector<std::string_view> ReasonIds();

}  // namespace mindgate::why
