#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <tl/expected.hpp>

namespace mindgate::cel {

// From when on, in seconds since 1970, an offset holds: seconds east of UTC.
struct OffsetChange {
  int64_t at = 0;
  int offset = 0;
};

// A zone of the IANA database since kZonesKnownSince. Beyond its last change the rule holds, as
// POSIX writes it: "CET-1CEST,M3.5.0,M10.5.0/3".
struct ZoneRow {
  std::string_view name;
  std::string_view rule;
  std::span<const OffsetChange> changes;  // the first one at kZonesKnownSince; empty: the rule
};
// By name. No object of Kubernetes is older than kZonesKnownSince, and what was in force before
// would make the table four times as large.
std::span<const ZoneRow> ZoneTable();
inline constexpr int64_t kZonesKnownSince = 1'199'145'600;  // 2008-01-01T00:00:00Z

enum class NoOffset : uint8_t { kUnknownZone, kBeforeTable };
// Seconds east of UTC at a time in seconds since 1970: of "UTC", "+02:00", "-02:30", "02:00", or of
// a zone by its name ("Asia/Shanghai").
tl::expected<int, NoOffset> OffsetIn(std::string_view zone, int64_t time);

}  // namespace mindgate::cel
