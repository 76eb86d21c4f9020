package import RecordModel

/// Subscriptions as they are stored; equal contents are equal bytes.
///
/// Integers are in zigzag LEB128, texts behind their length, as `CompactBytes` has them.
///
///     definition = 0x01 kind
///     kind       = 0x01 text integer zone predicate     query: record type, bits of `FiresOn`
///                | 0x02 zone text                       zone: record type, or empty
///                | 0x03 text                            database: record type, or empty
///     zone       = text text                            name, owner; both empty: none
///     predicate  = 0x00 | 0x01                          all, nothing
///                | 0x02 text byte integer texts         comparison: field, comparator, bits of the
///                                                       distance, operand
///                | 0x03 integer *predicate              and
///                | 0x04 integer *predicate              or
///     info       = 0x01 texts texts texts texts texts byte
///
/// An operand is a record body with one field, behind its length. The texts of an `info` are its
/// single ones, then the arguments of alert, title and subtitle and the desired keys. The byte has
/// its three marks.
package enum SubscriptionCoding {
    private static let version: UInt8 = 1
    /// Deeper than any predicate that was admitted.
    private static let depthMax = 2 * Bounds.predicateDepthMax

    package static func definition(of kind: Subscription.Kind) -> [UInt8] {
        var bytes = CompactBytes()
        bytes.append(byte: self.version)
        switch kind {
        case .query(let recordType, let predicate, let zone, let firesOn):
            bytes.append(byte: 1)
            bytes.append(recordType)
            bytes.append(Int64(firesOn.rawValue))
            self.append(zone, to: &bytes)
            self.append(predicate, to: &bytes)
        case .zone(let zone, let recordType):
            bytes.append(byte: 2)
            self.append(zone, to: &bytes)
            bytes.append(recordType ?? "")
        case .database(let recordType):
            bytes.append(byte: 3)
            bytes.append(recordType ?? "")
        }
        return bytes.bytes
    }

    /// The kind; `nil` if the bytes are nothing that this version wrote.
    package static func kind(_ definition: [UInt8]) -> Subscription.Kind? {
        var bytes = CompactBytes(definition)
        guard bytes.nextByte() == self.version else { return nil }
        switch bytes.nextByte() {
        case 1:
            guard let recordType = bytes.nextText(), let firesOn = bytes.nextInteger(),
                let zone = self.nextZone(&bytes), let predicate = self.nextPredicate(&bytes, depth: 0)
            else { return nil }
            return .query(
                recordType: recordType,
                predicate: predicate,
                zone: zone.zoneName.isEmpty ? nil : zone,
                firesOn: Subscription.FiresOn(rawValue: UInt32(truncatingIfNeeded: firesOn))
            )
        case 2:
            guard let zone = self.nextZone(&bytes), let recordType = bytes.nextText() else { return nil }
            return .zone(zone, recordType: recordType.isEmpty ? nil : recordType)
        case 3:
            guard let recordType = bytes.nextText() else { return nil }
            return .database(recordType: recordType.isEmpty ? nil : recordType)
        default: return nil
        }
    }

    package static func bytes(of info: NotificationInfo) -> [UInt8] {
        var bytes = CompactBytes()
        bytes.append(byte: self.version)
        bytes.append([
            info.alertBody, info.alertLocalizationKey, info.title, info.titleLocalizationKey, info.subtitle,
            info.subtitleLocalizationKey, info.alertActionLocalizationKey, info.alertLaunchImage,
            info.soundName, info.category, info.collapseIDKey,
        ])
        bytes.append(info.alertLocalizationArgs)
        bytes.append(info.titleLocalizationArgs)
        bytes.append(info.subtitleLocalizationArgs)
        bytes.append(info.desiredKeys)
        bytes.append(
            byte: (info.shouldBadge ? 1 : 0) | (info.shouldSendContentAvailable ? 2 : 0)
                | (info.shouldSendMutableContent ? 4 : 0)
        )
        return bytes.bytes
    }

    /// The information; `nil` if the bytes are nothing that this version wrote.
    package static func info(_ stored: [UInt8]) -> NotificationInfo? {
        var bytes = CompactBytes(stored)
        guard bytes.nextByte() == self.version, let texts = bytes.nextTexts(), texts.count == 11,
            let alertArgs = bytes.nextTexts(), let titleArgs = bytes.nextTexts(),
            let subtitleArgs = bytes.nextTexts(), let desiredKeys = bytes.nextTexts(),
            let marks = bytes.nextByte()
        else { return nil }
        var info = NotificationInfo()
        info.alertBody = texts[0]
        info.alertLocalizationKey = texts[1]
        info.title = texts[2]
        info.titleLocalizationKey = texts[3]
        info.subtitle = texts[4]
        info.subtitleLocalizationKey = texts[5]
        info.alertActionLocalizationKey = texts[6]
        info.alertLaunchImage = texts[7]
        info.soundName = texts[8]
        info.category = texts[9]
        info.collapseIDKey = texts[10]
        info.alertLocalizationArgs = alertArgs
        info.titleLocalizationArgs = titleArgs
        info.subtitleLocalizationArgs = subtitleArgs
        info.desiredKeys = desiredKeys
        info.shouldBadge = marks & 1 != 0
        info.shouldSendContentAvailable = marks & 2 != 0
        info.shouldSendMutableContent = marks & 4 != 0
        return info
    }

    // MARK: Parts

    private static func append(_ zone: ZoneID?, to bytes: inout CompactBytes) {
        bytes.append(zone?.zoneName ?? "")
        bytes.append(zone?.ownerName ?? "")
    }

    private static func nextZone(_ bytes: inout CompactBytes) -> ZoneID? {
        guard let name = bytes.nextText(), let owner = bytes.nextText() else { return nil }
        return ZoneID(zoneName: name, ownerName: owner)
    }

    private static func append(_ predicate: Predicate, to bytes: inout CompactBytes) {
        switch predicate {
        case .all: bytes.append(byte: 0)
        case .nothing: bytes.append(byte: 1)
        case .comparison(let comparison):
            bytes.append(byte: 2)
            bytes.append(comparison.field)
            bytes.append(byte: comparison.comparator.rawValue)
            bytes.append(Int64(bitPattern: comparison.distanceMetres.bitPattern))
            bytes.append(blob: RecordBody([Field(name: self.operandName, value: comparison.operand)]).bytes)
        case .and(let parts), .or(let parts):
            if case .and = predicate { bytes.append(byte: 3) } else { bytes.append(byte: 4) }
            bytes.append(Int64(parts.count))
            for part in parts { self.append(part, to: &bytes) }
        }
    }

    private static let operandName = "v"

    private static func nextPredicate(_ bytes: inout CompactBytes, depth: Int) -> Predicate? {
        guard depth < self.depthMax else { return nil }
        switch bytes.nextByte() {
        case 0: return .all
        case 1: return .nothing
        case 2:
            guard let field = bytes.nextText(), let comparator = bytes.nextByte().flatMap(Comparator.init),
                let distance = bytes.nextInteger(), let body = bytes.nextBlob(),
                let operand = RecordBody(trusted: body).fields.first
            else { return nil }
            return .comparison(
                Comparison(
                    field: field,
                    comparator: comparator,
                    operand: operand.value,
                    distanceMetres: Double(bitPattern: UInt64(bitPattern: distance))
                )
            )
        case 3: return self.nextPredicates(&bytes, depth: depth + 1).map { .and($0) }
        case 4: return self.nextPredicates(&bytes, depth: depth + 1).map { .or($0) }
        default: return nil
        }
    }

    private static func nextPredicates(_ bytes: inout CompactBytes, depth: Int) -> [Predicate]? {
        guard let count = bytes.nextInteger() else { return nil }
        var parts: [Predicate] = []
        for _ in 0..<max(0, count) {
            guard let part = self.nextPredicate(&bytes, depth: depth) else { return nil }
            parts.append(part)
        }
        return parts
    }
}
