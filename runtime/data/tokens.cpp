// What is too short is said with what there is and what it takes.
#include "data/tokens.h"

#include "error.h"

namespace burin::runtime {

void expectLongEnough(const Tokens &tokens, const Parts &parts, int64_t length) {
  uint64_t need = static_cast<uint64_t>(length) + 1;
  if (tokens.size() == 0)
    fail("data file {} is empty: have 0 tokens, need {} for training alone", tokens.path(), need);
  if (parts.train.size() < need)
    fail("data file {} is too short: have {} tokens for training, need {} (the context of {} and one more)",
         tokens.path(), parts.train.size(), need, length);
  if (parts.valid.size() < 2)
    fail("data file {} is too short: have {} tokens for validation, need 2", tokens.path(), parts.valid.size());
}

Parts split(const Tokens &tokens, double validFraction, int64_t length) {
  auto valid = static_cast<uint64_t>(static_cast<double>(tokens.size()) * validFraction);
  uint64_t train = tokens.size() - valid;
  Parts parts{{0, train}, {train, tokens.size()}};
  expectLongEnough(tokens, parts, length);
  return parts;
}

} // namespace burin::runtime
