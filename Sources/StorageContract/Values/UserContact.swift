package import RecordModel

/// An address or a number in the form in which it is compared.
package struct UserContact: Hashable, Sendable {
    /// 1 e-mail address, 2 phone number.
    package let kind: Int64
    package let value: String

    /// `nil` if the user is found by their name.
    package init?(_ lookup: IdentityLookup) {
        switch lookup {
        case .emailAddress(let address):
            self.kind = 1
            self.value = address.lowercased()
        case .phoneNumber(let number):
            self.kind = 2
            self.value = String(number.filter { $0.isNumber || $0 == "+" })
        case .userRecordName: return nil
        }
    }
}
