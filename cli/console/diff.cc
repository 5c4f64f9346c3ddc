#include <algorithm>
#include <cstdint>
#include <vector>

#include "cli/console/print.h"

namespace mindgate::cli {
namespace {

constexpr size_t kContext = 3;

// Myers' algorithm keeps one row per edit: 8 MB for this many. Mutation makes a few dozen edits.
constexpr int kMaxEdits = 1000;

using Lines = std::vector<std::string_view>;

Lines LinesOf(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// One line of the edit script.
struct Step {
  char mark;  // ' ', '-' or '+'
  std::string_view line;
};

// Myers, An O(ND) Difference Algorithm (1986). Empty when more than kMaxEdits are needed.
std::vector<Step> Shortest(const Lines& a, const Lines& b) {
  const int n = static_cast<int>(a.size());
  const int m = static_cast<int>(b.size());
  const int most = std::min(n + m, kMaxEdits);
  // furthest[d][k + d]: how far in `a` diagonal k (= x - y) is reached with d edits.
  std::vector<std::vector<int>> furthest;
  const auto reached = [&furthest](int d, int k) {
    return std::abs(k) > d ? -1 : furthest[static_cast<size_t>(d)][static_cast<size_t>(k + d)];
  };
  // The x at which diagonal k is entered with edit d, and whether by an insertion.
  const auto enter = [&reached](int d, int k, bool& inserted) {
    if (d == 0) return 0;
    const int by_insertion = reached(d - 1, k + 1);
    const int by_removal = reached(d - 1, k - 1);
    inserted = k == -d || (k != d && by_removal < by_insertion);
    return inserted ? by_insertion : by_removal + 1;
  };
  for (int d = 0; d <= most; ++d) {
    furthest.emplace_back(static_cast<size_t>(2 * d + 1), -1);
    for (int k = -d; k <= d; k += 2) {
      bool inserted = false;
      int x = enter(d, k, inserted);
      while (x < n && x - k < m && a[static_cast<size_t>(x)] == b[static_cast<size_t>(x - k)]) ++x;
      furthest.back()[static_cast<size_t>(k + d)] = x;
      if (x < n || x - k < m) continue;

      std::vector<Step> steps;
      for (int edit = d; edit >= 0; --edit) {
        const int begin = enter(edit, k, inserted);
        for (; x > begin; --x) steps.push_back({' ', a[static_cast<size_t>(x - 1)]});
        if (edit == 0) break;
        if (inserted) {
          steps.push_back({'+', b[static_cast<size_t>(x - k - 1)]});
          ++k;
        } else {
          steps.push_back({'-', a[static_cast<size_t>(--x)]});
          --k;
        }
      }
      std::reverse(steps.begin(), steps.end());
      return steps;
    }
  }
  return {};
}

std::vector<Step> StepsBetween(const Lines& a, const Lines& b) {
  std::vector<Step> steps = Shortest(a, b);
  if (!steps.empty()) return steps;
  for (std::string_view line : a) steps.push_back({'-', line});
  for (std::string_view line : b) steps.push_back({'+', line});
  return steps;
}

std::string Range(size_t first, size_t count) {
  // An empty range is written as the line before it.
  const std::string start = std::to_string(count == 0 ? first - 1 : first);
  return count == 1 ? start : start + "," + std::to_string(count);
}

}  // namespace

std::string UnifiedDiff(std::string_view before, std::string_view after, const Paint& paint) {
  if (before == after) return "";
  const std::vector<Step> steps = StepsBetween(LinesOf(before), LinesOf(after));
  std::string out;
  size_t old_line = 1;
  size_t new_line = 1;
  size_t at = 0;
  const auto pass = [&](const Step& step) {
    if (step.mark != '+') ++old_line;
    if (step.mark != '-') ++new_line;
  };
  while (at < steps.size()) {
    // The next change, with the context before it.
    size_t change = at;
    while (change < steps.size() && steps[change].mark == ' ') ++change;
    if (change == steps.size()) break;
    const size_t begin = std::max(at, change - std::min(change, kContext));
    for (; at < begin; ++at) pass(steps[at]);
    // Changes that are at most two contexts apart share a hunk.
    size_t end = change;
    for (size_t i = change; i < steps.size() && i < end + 2 * kContext + 1; ++i) {
      if (steps[i].mark != ' ') end = i + 1;
    }
    end = std::min(steps.size(), end + kContext);

    const size_t old_first = old_line;
    const size_t new_first = new_line;
    std::string body;
    for (; at < end; ++at) {
      const Step& step = steps[at];
      const std::string line = step.mark + std::string(step.line);
      body += (step.mark == ' '   ? line
               : step.mark == '-' ? paint(Color::kRed, line)
                                  : paint(Color::kGreen, line)) +
              "\n";
      pass(step);
    }
    out += paint(Color::kCyan, "@@ -" + Range(old_first, old_line - old_first) + " +" +
                                   Range(new_first, new_line - new_first) + " @@") +
           "\n" + body;
  }
  return out;
}

}  // namespace mindgate::cli
