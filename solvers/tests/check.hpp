// A few macros for tests: a failed check prints its place and its values, and the program continues.
//
// There are thousands of checks, so that what they do when they fail, and all printing, is compiled once, in check.cpp.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace check {

// True, for the initialization of a variable.
bool enlist(const char* name, void (*run)());

// How many random problems to try of those that a case has: all of them, under sanitizers 15%, or the percentage that
// the variable CUDBOUND_TRIALS of the environment names, but never so few that kinds which take turns are left out.
int trials(int many);

// What a count must reach among the problems that are tried, if it reaches far more than `many` among all of them.
int share_of(int many);

std::string text_of(double value);
std::string text_of(long double value);
std::string text_of(long long value);
std::string text_of(unsigned long long value);
inline std::string text_of(const char* value) { return value; }
inline std::string text_of(const std::string& value) { return value; }

template <class Number>
std::string shown(const Number& value) {
    if constexpr (!std::is_integral_v<Number>) {
        return text_of(value);
    } else if constexpr (std::is_unsigned_v<Number>) {
        return text_of(static_cast<unsigned long long>(value));
    } else {
        return text_of(static_cast<long long>(value));
    }
}

// Printed with a failure: which of many random problems it was.
void set_context(const std::vector<std::string>& parts);

template <class... Parts>
void set_context(const Parts&... parts) {
    set_context(std::vector<std::string>{shown(parts)...});
}

void fail(const char* file, int line, const char* text);
void fail(const char* file, int line, const char* text, const std::string& left, const std::string& right);

template <class A, class B>
[[gnu::cold, gnu::noinline]] void fail_between(const A& a, const B& b, const char* text, const char* file, int line) {
    fail(file, line, text, shown(a), shown(b));
}

inline void that(bool holds, const char* text, const char* file, int line) {
    if (!holds) fail(file, line, text);
}

template <class A, class B>
void equal(const A& a, const B& b, const char* text, const char* file, int line) {
    if (!(a == b)) fail_between(a, b, text, file, line);
}

template <class A, class B>
void at_most(const A& a, const B& b, const char* text, const char* file, int line) {
    if (!(a <= b)) fail_between(a, b, text, file, line);
}

inline void near(double a, double b, double tolerance, const char* text, const char* file, int line) {
    // also holds for equal infinities, and fails for NaN
    if (!(a == b || std::abs(a - b) <= tolerance)) fail_between(a, b, text, file, line);
}

}  // namespace check

#define TEST(name)                                                                 \
    static void name();                                                            \
    [[maybe_unused]] static const bool name##_listed = check::enlist(#name, name); \
    static void name()

#define CHECK(condition) check::that((condition), "CHECK(" #condition ")", __FILE__, __LINE__)
#define CHECK_EQUAL(a, b) check::equal((a), (b), "CHECK_EQUAL(" #a ", " #b ")", __FILE__, __LINE__)
#define CHECK_AT_MOST(a, b) check::at_most((a), (b), "CHECK_AT_MOST(" #a ", " #b ")", __FILE__, __LINE__)
#define CHECK_NEAR(a, b, tolerance) \
    check::near((a), (b), (tolerance), "CHECK_NEAR(" #a ", " #b ", " #tolerance ")", __FILE__, __LINE__)

// The statement must throw exactly this type with exactly this text.
#define CHECK_THROWS(statement, type, text)                                                            \
    do {                                                                                               \
        bool thrown = false;                                                                           \
        try {                                                                                          \
            statement;                                                                                 \
        } catch (const type& error) {                                                                  \
            thrown = true;                                                                             \
            CHECK_EQUAL(std::string(error.what()), std::string(text));                                 \
        }                                                                                              \
        check::that(thrown, "CHECK_THROWS(" #statement ", " #type ", " #text ")", __FILE__, __LINE__); \
    } while (false)
