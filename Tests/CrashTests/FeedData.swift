import RecordModel

/// What the writers of the feed checker write.
enum FeedData {
    static let readers = 8
    /// Never deleted.
    static let lastingZones = [ZoneID.default, ZoneID(zoneName: "elm"), ZoneID(zoneName: "oak")]
    /// Deleted and created again.
    static let passingZones = [ZoneID(zoneName: "ash"), ZoneID(zoneName: "yew")]
    static let zones = lastingZones + passingZones
    static let recordType = "Node"
    static let usersType = "Users"

    /// Together 48 a zone: a token remembers at least 50 parents that were sent ahead, so nothing
    /// may come twice.
    static let names = (0..<48).map { "n\($0)" }

    /// The names that one of so many writers has for itself.
    static func names(ofWriter number: Int, of count: Int) -> [String] {
        let share = self.names.count / count
        return Array(self.names[number * share..<(number + 1) * share])
    }
}

/// A state of a record.
struct Content: Hashable, Sendable {
    /// What the change tag says: a position in base 36.
    var position: Int64
    var parent: String?
    var body: RecordBody

    init(changeTag: String, parent: String?, body: RecordBody) throws {
        guard let position = Int64(changeTag, radix: 36) else {
            throw FeedFlaw("change tag '\(changeTag)' is no position")
        }
        self.position = position
        self.parent = parent
        self.body = body
    }

    init(_ record: Record) throws {
        try self.init(changeTag: record.changeTag, parent: record.parent, body: record.body)
    }

    /// The record with which this one goes.
    var owner: String? {
        for field in self.body.fields {
            if field.name == "owner", case .reference(let reference) = field.value {
                return reference.recordName
            }
        }
        return nil
    }
}

/// What a feed must not do.
struct FeedFlaw: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
