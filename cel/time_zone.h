#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mindgate::cel {

// When a time zone was or will be how far from UTC, from a file of the IANA database (TZif, RFC
// 9636). Beyond the last change of the file its rule is used, as POSIX writes it.
class TimeZone {
 public:
  // Nothing when the bytes are not such a file.
  static std::optional<TimeZone> Parse(std::string_view bytes);

  // Seconds east of UTC at a time in seconds since 1970.
  int OffsetAt(int64_t time) const;

 private:
  struct Change {
    int64_t at = 0;
    int offset = 0;
  };
  // The day and time of a year at which summer time begins or ends: "M3.2.0/2".
  struct Date {
    int month = 0;
    int week = 0;
    int day = 0;
    int seconds = 2 * 3600;
  };
  struct Rule {
    int standard = 0;
    int summer = 0;
    bool changes = false;
    Date begin;
    Date end;
  };

  static std::optional<Rule> ParseRule(std::string_view text);
  static int64_t TimeOf(const Date& date, int year, int offset);
  int OffsetByRule(int64_t time) const;

  std::vector<Change> changes_;
  int first_ = 0;  // before the first change
  std::optional<Rule> rule_;
};

// Zones by name ("Europe/Berlin"). Filled by the caller, who reads the files, then never changed.
class TimeZones {
 public:
  void Add(std::string name, TimeZone zone) { zones_.insert_or_assign(std::move(name), zone); }
  const TimeZone* Find(std::string_view name) const {
    const auto found = zones_.find(name);
    return found == zones_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::string, TimeZone, std::less<>> zones_;
};

// Seconds east of UTC: "UTC", "+02:00", "-02:30", "02:00", or the name of a zone. Nothing when it
// is not known. `zones` may be a null pointer.
std::optional<int> OffsetIn(std::string_view zone, int64_t time, const TimeZones* zones);

}  // namespace mindgate::cel
