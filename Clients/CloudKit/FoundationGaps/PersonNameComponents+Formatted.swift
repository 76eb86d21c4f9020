public import Foundation

// API that Foundation on Linux lacks. It is disfavoured, so that a Foundation that has it comes
// first.
extension PersonNameComponents {
    /// Returns the name for people: given name and family name, in Chinese, Japanese and Korean
    /// script the family name first.
    ///
    /// If there is neither, it returns the nickname, else an empty text.
    @_disfavoredOverload
    public func formatted() -> String {
        let names = [self.givenName, self.familyName].compactMap { $0 }.filter { !$0.isEmpty }
        if names.isEmpty { return self.nickname ?? "" }
        let isIdeographic = names.allSatisfy { $0.unicodeScalars.allSatisfy(\.isOfFamilyNameFirstScript) }
        return isIdeographic ? names.reversed().joined() : names.joined(separator: " ")
    }
}

extension Unicode.Scalar {
    /// Whether the script is Han, Kana or Hangul, in which the family name comes first, without a
    /// space.
    fileprivate var isOfFamilyNameFirstScript: Bool {
        switch self.value {
        case 0x3040...0x30FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xAC00...0xD7AF, 0x2_0000...0x3_FFFF: true
        default: false
        }
    }
}
