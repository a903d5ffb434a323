// Vectors that are indexed and sized by any integer.
#pragma once

#include <concepts>
#include <cstddef>
#include <vector>

namespace cudbound {

// Coefficients are counted by int, rows by std::int64_t, and neither is negative. What is no integer does not compile.
template <class T>
class Vector : public std::vector<T> {
 public:
    using Base = std::vector<T>;
    using Base::assign;
    using Base::Base;
    Vector() = default;
    Vector(const Base& other) : Base(other) {}
    explicit Vector(std::integral auto size) : Base(static_cast<std::size_t>(size)) {}
    Vector(std::integral auto size, const T& value) : Base(static_cast<std::size_t>(size), value) {}

    T& operator[](std::integral auto i) { return Base::operator[](static_cast<std::size_t>(i)); }
    const T& operator[](std::integral auto i) const { return Base::operator[](static_cast<std::size_t>(i)); }
    void resize(std::integral auto size) { Base::resize(static_cast<std::size_t>(size)); }
    void reserve(std::integral auto size) { Base::reserve(static_cast<std::size_t>(size)); }
    void assign(std::integral auto size, const T& value) { Base::assign(static_cast<std::size_t>(size), value); }

    // Of a matrix with rows of this width.
    T* row(std::integral auto i, std::integral auto width) { return this->data() + distance(i, width); }
    const T* row(std::integral auto i, std::integral auto width) const { return this->data() + distance(i, width); }

 private:
    static std::ptrdiff_t distance(std::integral auto i, std::integral auto width) {
        return static_cast<std::ptrdiff_t>(i) * static_cast<std::ptrdiff_t>(width);
    }
};

}  // namespace cudbound
