// Words of PTX text. Opcodes with their modifiers and names of special registers are one word, dots included.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace simt::ptx {

struct Token {
  enum Kind { WORD, NUMBER, STRING, PUNCTUATION, END };
  Kind kind = END;
  std::string text;
  int line = 0;
};

class Lexer {
public:
  explicit Lexer(std::string_view text) : rest(text) { advance(); }

  const Token &peek() const { return token; }
  Token next();
  bool at(std::string_view text) const { return token.kind != Token::STRING && token.text == text; }
  bool take(std::string_view text); // consumes it if it is next
  void expect(std::string_view text);
  std::string word(); // the next token, which must be a word

private:
  void advance();
  void skipSpace();

  std::string_view rest;
  int line = 1;
  Token token;
};

} // namespace simt::ptx
