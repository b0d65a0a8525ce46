// Random numbers without hidden state: draw `index` of a stream is a function of seed, stream name and index alone, so
// it is the same on every machine, for every thread count and after every resume.
#pragma once
#include <cstdint>
#include <string_view>

namespace burin::runtime {

class Random {
public:
  Random(uint64_t seed, std::string_view stream);

  // 64 random bits. `attempt` numbers the redraws for one index.
  uint64_t bits(uint64_t index, uint64_t attempt = 0) const;
  // Uniform in (0, 1), never an end.
  double uniform(uint64_t index, uint64_t attempt = 0) const;
  // Uniform in 0 .. count - 1.
  uint64_t below(uint64_t count, uint64_t index) const;
  // Standard normal.
  double normal(uint64_t index, uint64_t attempt = 0) const;

private:
  uint64_t key_;
};

// The standard normal's quantile at p in (0, 1).
double normalQuantile(double p);

// Philox4x32-10 (Salmon et al. 2011): four 32-bit counters in, four random words out.
struct Philox {
  uint32_t word[4];
};
Philox philox(Philox counter, uint32_t key0, uint32_t key1);

} // namespace burin::runtime
