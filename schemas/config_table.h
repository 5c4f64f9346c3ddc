#pragma once

#include "schemas/config.h"
#include "schemas/field_types.h"
#include "schemas/site_kinds.h"

namespace mindgate::schemas {

// The keys of mindgate.yaml: how each is read, its documentation and its default. `known` must
// outlive it.
Type<Config> ConfigTable(const KnownNames& known);

// A rule by its id or name, read as its id.
Type<std::string> RuleName(const KnownNames& known);

// The modes off, observe and enforce.
Type<EnforcementMode> EnforcementModeWord();

// The keys of rescheduling, which scenarios have too.
Type<Rescheduling> ReschedulingTable();

// The keys of elastic scaling that scenarios have too. An S has ElasticScaling's member names.
template <typename S>
std::vector<Key<S>> ScalingKeys() {
  using std::chrono::hours;
  using std::chrono::seconds;
  return {
      {"upstreamCounts",
       "When true, only running instances are counted, as ascend-operator does: all waiting "
       "instances of a group start at once, which may be more than the rule wants.",
       &S::upstream_counts, Boolean()},
      {"reservation",
       "How long an instance counts as started after its gate was to be opened, while neither its "
       "pods nor the API server confirm it; then the gate is opened again.",
       &S::reservation, Duration(seconds(1), hours(1))},
      {"startDeadline",
       "How long a granted instance may take until it runs. After that its siblings no longer wait "
       "for it, and one that found no room returns behind its gate.",
       &S::start_deadline, Duration(seconds(1), hours(24))},
      {"rebalance",
       "With enforce, instances of a group that has more than the shape wants are given up when a "
       "wanted one of another group finds no room. With observe this is only reported. It is about "
       "what runs: a granted instance without room that the shape does not want returns behind its "
       "gate in any case.",
       &S::rebalance, EnforcementModeWord()},
      {"rebalanceAfter",
       "How long the wanted instance must have found no room before another one is given up.",
       &S::rebalance_after, Duration(seconds(1), hours(24))},
      {"coolDown", "Minimum time between giving up two instances of one service.", &S::cool_down,
       Duration(seconds(1), hours(24))},
  };
}

// The value of `kinds` in mindgate.yaml: rows of kinds, and names of shipped ones
// (ShippedKinds). Every row is checked: its routes are sound and lead to templates, its names
// are those that the API server takes, no two rows are of one kind, none is of a built-in one, and
// what it makes is known.
Type<SiteKinds> SiteKindsTable();

// One row of it, without the key `use`.
Type<SiteKind> SiteKindTable();

}  // namespace mindgate::schemas
