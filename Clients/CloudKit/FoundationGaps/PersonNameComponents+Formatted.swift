public import Foundation

// What Foundation on Linux lacks. Disfavoured, so that a Foundation that has it comes first.
extension PersonNameComponents {
    /// The name for people to read: given name and family name; in Chinese, Japanese and Korean script the family name first.
    ///
    /// The nickname if there is neither; empty if there is nothing.
    @_disfavoredOverload
    public func formatted() -> String {
        let names = [self.givenName, self.familyName].compactMap { $0 }.filter { !$0.isEmpty }
        if names.isEmpty { return self.nickname ?? "" }
        let isIdeographic = names.allSatisfy { $0.unicodeScalars.allSatisfy(\.isOfFamilyNameFirstScript) }
        return isIdeographic ? names.reversed().joined() : names.joined(separator: " ")
    }
}

extension Unicode.Scalar {
    /// Whether it is of a script in which the family name comes first, without a space: Han, Kana or Hangul.
    fileprivate var isOfFamilyNameFirstScript: Bool {
        switch self.value {
        case 0x3040...0x30FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xAC00...0xD7AF, 0x2_0000...0x3_FFFF: true
        default: false
        }
    }
}
