#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace mindgate::cel {

// Values of Kubernetes' own libraries, and what an error is. They stand in an arena and own
// nothing.

// In billionths: Kubernetes keeps no smaller part, and nothing above 2^63 - 1 units when it reads.
struct Quantity {
  __int128 nanos = 0;
  bool is_int = false;  // what isInteger answers: see ParseQuantity
  bool operator==(const Quantity& other) const { return nanos == other.nanos; }
};

struct Semver {
  uint64_t major = 0;
  uint64_t minor = 0;
  uint64_t patch = 0;
  std::string_view pre_release;
};

struct Ip {
  std::array<uint8_t, 16> bytes{};  // of IPv4 as ::ffff:a.b.c.d
  bool is_four = false;
};

struct Cidr {
  Ip ip;
  int prefix = 0;
};

struct Url {
  std::string_view text;
  std::string_view scheme;
  std::string_view host;  // with brackets and port
  std::string_view path;
  std::string_view query;
};

// One of the named formats; `name` is one of library/formats.cc.
struct Format {
  std::string_view name;
};

// Why there is no value. `at` is the offset in the expression of what failed.
struct Fault {
  std::string_view message;
  std::string_view hint;
  uint32_t at = kNowhere;
  bool beyond_limit = false;  // ends the evaluation, whatever || and && would make of it

  static constexpr uint32_t kNowhere = UINT32_MAX;
};

}  // namespace mindgate::cel
