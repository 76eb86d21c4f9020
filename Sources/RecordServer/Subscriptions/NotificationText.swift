import RecordModel

/// Values as readable text, inserted for a field's name.
///
/// - Source: `Protocol/README.md`, section 5.11.
enum NotificationText {
    /// Empty for values without a readable text: bytes, locations, lists, and encrypted values.
    static func text(of slice: FieldSlice, in body: RecordBody) -> String {
        guard !slice.isEncrypted else { return "" }
        switch slice.type {
        case .string, .int64, .double, .timestamp, .reference: return self.text(of: body.value(of: slice))
        case .bytes, .location, .stringList, .int64List, .doubleList, .timestampList, .bytesList,
            .locationList, .referenceList, .asset, .assetList, .emptyList, .clear:
            return ""
        }
    }

    private static func text(of value: FieldValue) -> String {
        switch value {
        case .string(let text): text
        case .int64(let integer): "\(integer)"
        case .double(let double): Int64(exactly: double).map { "\($0)" } ?? "\(double)"
        case .timestamp(let seconds): self.date(secondsSince2001: seconds)
        case .reference(let reference): reference.recordName
        case .bytes, .location, .stringList, .int64List, .doubleList, .timestampList, .bytesList,
            .locationList, .referenceList, .asset, .assetList, .emptyList, .clear:
            ""
        }
    }

    /// ISO 8601, UTC, whole seconds; empty outside the years 1 to 9999.
    private static func date(secondsSince2001: Double) -> String {
        guard (-63_113_904_000..<252_423_993_600).contains(secondsSince2001) else { return "" }
        let seconds = Int(secondsSince2001.rounded(.down))
        let secondOfDay = (seconds % 86_400 + 86_400) % 86_400
        let (year, month, day) = Self.civil(daysSince2001: (seconds - secondOfDay) / 86_400)
        let date = [(year, 4), (month, 2), (day, 2)].map(Self.digits).joined(separator: "-")
        let time = [secondOfDay / 3_600, secondOfDay / 60 % 60, secondOfDay % 60]
            .map { Self.digits($0, 2) }.joined(separator: ":")
        return "\(date)T\(time)Z"
    }

    private static func digits(_ number: Int, _ count: Int) -> String {
        let digits = "\(number)"
        return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
    }

    /// Years of the Gregorian calendar that begin in March and come in eras of 400.
    private static func civil(daysSince2001: Int) -> (year: Int, month: Int, day: Int) {
        // 2001-01-01 is 730,791 days after 0000-03-01.
        let days = daysSince2001 + 730_791
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        let isAfterDecember = month >= 10
        return (
            yearOfEra + era * 400 + (isAfterDecember ? 1 : 0), isAfterDecember ? month - 9 : month + 3, day
        )
    }
}
