#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "http/refusal.h"

namespace mindgate::http {

// What a connection is doing.
enum class Phase { kHandshake, kIdle, kReading, kExecuting, kWriting, kLingering };
inline constexpr size_t kPhaseCount = 6;
inline constexpr std::array<std::string_view, kPhaseCount> kPhaseNames = {
    "handshake", "idle", "reading", "executing", "writing", "closing"};

// Why a connection ended without having been asked to.
enum class Drop {
  kHandshakeFailed,
  kHandshakeTimeout,
  kHandshakeCap,
  kIdleTimeout,
  kWriteTimeout,
  kEvicted,
  kOverCap,
  kNoDescriptor
};
inline constexpr size_t kDropCount = 8;
inline constexpr std::array<std::string_view, kDropCount> kDropNames = {
    "handshake_failed", "handshake_timeout", "handshake_cap", "idle_timeout",
    "write_timeout",    "evicted",           "over_cap",      "no_descriptor",
};

// Counts of one port's connection layer. Written by its threads, read by the metrics. Safe from
// many threads.
struct LayerStats {
  std::array<std::atomic<int64_t>, kPhaseCount> connections{};
  std::array<std::atomic<uint64_t>, kDropCount> drops{};
  std::array<std::atomic<uint64_t>, kRefusalCount> refusals{};
  std::atomic<uint64_t> accepted{0};

  int64_t In(Phase phase) const { return connections[static_cast<size_t>(phase)].load(); }
  uint64_t Count(Drop drop) const { return drops[static_cast<size_t>(drop)].load(); }
  uint64_t Count(Refusal refusal) const { return refusals[static_cast<size_t>(refusal)].load(); }
  void Add(Drop drop) { ++drops[static_cast<size_t>(drop)]; }
  void Add(Refusal refusal) { ++refusals[static_cast<size_t>(refusal)]; }
  int64_t Open() const {
    int64_t sum = 0;
    for (const auto& count : connections) sum += count.load();
    return sum;
  }
};

}  // namespace mindgate::http
