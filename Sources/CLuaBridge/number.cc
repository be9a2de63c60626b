// Numbers and their text. Integers and doubles stay apart: `1` is an integer, `1.0` a double, and each keeps its form
// on the way through script, state and log. `-0` reads as the double -0.0: there is no integer like it.

#include <double-conversion/double-conversion.h>

#include <cmath>
#include <cstring>

#include "json.h"

using double_conversion::DoubleToStringConverter;
using double_conversion::StringBuilder;
using double_conversion::StringToDoubleConverter;

namespace {

constexpr int textCapacity = 32;
constexpr double exactInteger = 1e15;  // every decimal of 15 digits or fewer is the shortest text of its double

const DoubleToStringConverter &writer() {
    static const DoubleToStringConverter converter(
        DoubleToStringConverter::EMIT_TRAILING_DECIMAL_POINT | DoubleToStringConverter::EMIT_TRAILING_ZERO_AFTER_POINT,
        nullptr, nullptr, 'e', -6, 21, 0, 0);
    return converter;
}

const StringToDoubleConverter &reader() {
    static const StringToDoubleConverter converter(StringToDoubleConverter::NO_FLAGS, 0.0, 0.0, nullptr, nullptr);
    return converter;
}

/// Most numbers of a page have a few decimals. If `value` is `scaled` / 10^`places` with 15 digits at most, that is its
/// shortest text, found without the general algorithm. False for the others and for zeros.
bool asDecimal(double value, int64_t &scaled, int &places) {
    static const double powers[] = {1, 10, 100, 1000, 10000};
    if (!(std::fabs(value) < exactInteger) || value == 0) {
        return false;
    }
    for (places = 0; places <= 4; places++) {
        double product = value * powers[places];
        if (!(std::fabs(product) < exactInteger)) {
            return false;
        }
        scaled = static_cast<int64_t>(product < 0 ? product - 0.5 : product + 0.5);
        if (scaled != 0 && static_cast<double>(scaled) / powers[places] == value) {
            return true;
        }
    }
    return false;
}

/// Up to 18 digits with at most one point among them and no exponent: nearly all numbers. False for the others, which
/// the general reader looks at from their beginning.
bool scanShort(const uint8_t *at, const uint8_t *end, const uint8_t *&after, bool &whole, int64_t &integer, double &real) {
    static const double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                    1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
    bool negative = *at == '-';
    at += negative ? 1 : 0;
    const uint8_t *first = at, *stop = end - at > 19 ? at + 19 : end;
    uint64_t mantissa = 0;  // 19 digits fit
    while (at < stop && static_cast<uint8_t>(*at - '0') < 10) {
        mantissa = mantissa * 10 + static_cast<uint64_t>(*at++ - '0');
    }
    // One byte must be left to see that the number ends here.
    if (at == first || at == stop || (*first == '0' && at - first > 1)) {
        return false;
    }
    whole = *at != '.';
    int fraction = 0;
    if (!whole) {
        const uint8_t *point = ++at;
        while (at < stop && static_cast<uint8_t>(*at - '0') < 10) {
            mantissa = mantissa * 10 + static_cast<uint64_t>(*at++ - '0');
        }
        fraction = static_cast<int>(at - point);
        if (fraction == 0 || at == stop || mantissa > (uint64_t{1} << 53)) {
            return false;
        }
    }
    if (*at == '.' || *at == 'e' || *at == 'E' || (negative && whole && mantissa == 0)) {
        return false;
    }
    after = at;
    integer = negative ? -static_cast<int64_t>(mantissa) : static_cast<int64_t>(mantissa);
    if (!whole) {
        double value = static_cast<double>(mantissa) / powers[fraction];  // both exact, so one rounding: the nearest double
        real = negative ? -value : value;
    }
    return true;
}

}  // namespace

size_t ah_integer_digits(int64_t value) {
    uint64_t rest = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    size_t count = value < 0 ? 2 : 1;
    while (rest >= 10) {
        rest /= 10;
        count++;
    }
    return count;
}

size_t ah_integer_text(int64_t value, char *out) {
    size_t count = ah_integer_digits(value);
    uint64_t rest = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    size_t at = count;
    do {
        out[--at] = static_cast<char>('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    if (value < 0) {
        out[0] = '-';
    }
    return count;
}

size_t ah_double_digits(double value) {
    int64_t scaled;
    int places;
    if (asDecimal(value, scaled, places)) {
        size_t sign = scaled < 0 ? 1 : 0;
        size_t digits = ah_integer_digits(scaled) - sign;
        size_t whole = places == 0 ? 2 : 1;  // ".0" or "."
        size_t leading = digits > static_cast<size_t>(places) ? digits : static_cast<size_t>(places) + 1;
        return sign + leading + whole;
    }
    char text[textCapacity];
    return ah_double_text(value, text);
}

size_t ah_double_text(double value, char *out) {
    int64_t scaled;
    int places;
    if (asDecimal(value, scaled, places)) {
        char digits[textCapacity];
        size_t count = ah_integer_text(scaled < 0 ? -scaled : scaled, digits);
        size_t at = 0;
        if (scaled < 0) {
            out[at++] = '-';
        }
        size_t fraction = static_cast<size_t>(places);
        size_t whole = count > fraction ? count - fraction : 0;
        if (whole == 0) {
            out[at++] = '0';
        }
        std::memcpy(out + at, digits, whole);
        at += whole;
        out[at++] = '.';
        for (size_t i = count; i < fraction; i++) {
            out[at++] = '0';
        }
        std::memcpy(out + at, digits + whole, count - whole);
        at += count - whole;
        if (places == 0) {
            out[at++] = '0';
        }
        return at;
    }
    StringBuilder builder(out, textCapacity);
    writer().ToShortest(value, &builder);
    size_t count = static_cast<size_t>(builder.position());
    builder.Finalize();
    return count;
}

ah_number_kind ah_number_scan(const uint8_t *at, const uint8_t *end, const uint8_t **after, int64_t *integer, double *real) {
    const uint8_t *start = at;
    bool whole = true;
    *after = at;
    if (at < end && scanShort(at, end, *after, whole, *integer, *real)) {
        return whole ? AH_NUMBER_INTEGER : AH_NUMBER_DOUBLE;
    }
    auto digits = [&at, end]() {
        const uint8_t *from = at;
        while (at < end && static_cast<uint8_t>(*at - '0') < 10) {
            at++;
        }
        return at - from;
    };
    bool negative = at < end && *at == '-';
    at += negative ? 1 : 0;
    const uint8_t *first = at;
    ptrdiff_t count = digits();
    if (count == 0 || (*first == '0' && count > 1)) {
        return AH_NUMBER_BAD;
    }
    const uint8_t *last = at;
    whole = true;
    if (at < end && *at == '.') {
        whole = false;
        at++;
        if (digits() == 0) {
            return AH_NUMBER_BAD;
        }
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        whole = false;
        at++;
        at += at < end && (*at == '+' || *at == '-') ? 1 : 0;
        if (digits() == 0) {
            return AH_NUMBER_BAD;
        }
    }
    *after = at;
    if (whole) {
        uint64_t value = 0, limit = static_cast<uint64_t>(INT64_MAX) + (negative ? 1 : 0);
        for (const uint8_t *p = first; p < last; p++) {
            uint64_t digit = *p - '0';
            if (value > (limit - digit) / 10) {
                return AH_NUMBER_TOO_LARGE;
            }
            value = value * 10 + digit;
        }
        if (negative && value == 0) {
            *real = -0.0;
            return AH_NUMBER_DOUBLE;
        }
        *integer = static_cast<int64_t>(negative ? 0 - value : value);
        return AH_NUMBER_INTEGER;
    }
    if (at - start > INT32_MAX) {
        return AH_NUMBER_TOO_LARGE;
    }
    int used = 0;
    double value = reader().StringToDouble(reinterpret_cast<const char *>(start), static_cast<int>(at - start), &used);
    if (!std::isfinite(value)) {
        return AH_NUMBER_TOO_LARGE;
    }
    *real = value;
    return AH_NUMBER_DOUBLE;
}
