// A few macros for tests: a failed check prints its place and its values, and the program continues.
#pragma once

#include <cmath>
#include <cstring>
#include <exception>
#include <iomanip>
#include <iostream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace check {

struct Case {
    const char* name;
    void (*run)();
};

inline std::vector<Case>& cases() {
    static std::vector<Case> all;
    return all;
}

inline bool enlist(const char* name, void (*run)()) {
    cases().push_back({name, run});
    return true;
}

inline int failures = 0;
inline std::string context;  // printed with a failure: which of many random problems it was

// How many random problems to try: instrumented code is ten times as slow, and looks for other faults.
constexpr int trials(int many) {
#ifdef CUDBOUND_SANITIZED
    return many / 6 + 1;
#else
    return many;
#endif
}

template <class... Parts>
void set_context(const Parts&... parts) {
    std::ostringstream text;
    ((text << parts << ' '), ...);
    context = text.str();
}

inline void fail(const char* file, int line, const std::string& message) {
    constexpr int enough = 30;
    if (++failures > enough) return;
    std::cout << file << ':' << line << ": " << message;
    if (!context.empty()) std::cout << "   [" << context << ']';
    std::cout << '\n';
}

template <class A, class B>
std::string both(const char* text, const A& a, const B& b) {
    std::ostringstream out;
    out << std::setprecision(17) << text << "   left " << a << "   right " << b;
    return out.str();
}

inline void that(bool holds, const char* text, const char* file, int line) {
    if (!holds) fail(file, line, text);
}

template <class A, class B>
void equal(const A& a, const B& b, const char* text, const char* file, int line) {
    if (!(a == b)) fail(file, line, both(text, a, b));
}

template <class A, class B>
void at_most(const A& a, const B& b, const char* text, const char* file, int line) {
    if (!(a <= b)) fail(file, line, both(text, a, b));
}

inline void near(double a, double b, double tolerance, const char* text, const char* file, int line) {
    // also holds for equal infinities, and fails for NaN
    if (!(a == b || std::abs(a - b) <= tolerance)) fail(file, line, both(text, a, b));
}

// Runs the case whose name is the only argument, or all of them.
inline int run(int argc, char** argv) {
    int ran = 0;
    for (const Case& one : cases()) {
        if (argc > 1 && std::strcmp(argv[1], one.name) != 0) continue;
        ++ran;
        const int before = failures;
        context.clear();
        try {
            one.run();
        } catch (const std::exception& error) {
            fail(one.name, 0, std::string("exception: ") + error.what());
        }
        std::cout << (failures == before ? "passed  " : "FAILED  ") << one.name << '\n';
    }
    if (ran == 0) std::cout << "no such case\n";
    std::cout << ran << " cases, " << failures << " failed checks\n";
    return failures == 0 && ran > 0 ? 0 : 1;
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
