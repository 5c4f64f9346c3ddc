#pragma once

#include <cstdint>
#include <span>
#include <string_view>

// The labels and annotations that MindCluster reads of what users write: one row each, from which
// come the rule about misspelled and misplaced keys, `mindgate explain KEY`, the page docs/keys.md,
// and what scripts/upstream-facts compares with a checkout of mind-cluster.
namespace mindgate::schemas {

enum class KeyWhere : uint8_t { kLabel, kAnnotation };

std::string_view KeyWhereName(KeyWhere where);  // "label", "annotation"

// How a key is found that resembles this one.
struct KeyNearMiss {
  // This many typos are taken for the same word; a negative number: it is not guessed at, not even
  // when it stands in the wrong map.
  int typos = -1;
  bool needs_prefix = false;  // too common a word without its domain
  bool of_job = false;        // only an AscendJob's operator reads it
  bool only_moved = false;    // too common a word to guess at: only as it is, in the wrong map
};

struct KeyFact {
  std::string_view key;
  KeyWhere where;
  std::string_view place;   // on which objects it is read, for people
  std::string_view values;  // that are understood, and what all others mean
  std::string_view reader;  // component and package of mind-cluster, below component/
  std::string_view effect;  // one sentence without its full stop
  KeyNearMiss near{};
};

// By key.
std::span<const KeyFact> KeyFacts();
// Null pointer when MindCluster reads no such key.
const KeyFact* KeyNamed(std::string_view key);

}  // namespace mindgate::schemas
