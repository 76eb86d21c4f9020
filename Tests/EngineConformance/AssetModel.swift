import RecordModel
import StorageContract
import TestSupport
import Testing

/// What a store should know of files: a plain model of section 5.12.
struct AssetModel {
    /// A file in a database.
    struct Place: Hashable {
        var database: DatabaseID
        var file: Int
    }

    struct RecordKey: Hashable {
        var database: DatabaseID
        var zone: String
        var name: String
    }

    struct Item {
        var single: Int?
        var list: [Int] = []
        /// Goes with the record that is called `root`.
        var isHeld = false

        var files: Set<Int> { Set(self.list).union(self.single.map { [$0] } ?? []) }
    }

    struct Upload {
        var place: Place
        var user: String
        var since: Int64
    }

    struct Complete {
        var number: AssetNumber
        var senders: Set<String>
        /// Not before this time somebody let go of it, or asked for it.
        var since: Int64
    }

    var records: [RecordKey: Item] = [:]
    var uploads: [AssetNumber: Upload] = [:]
    var complete: [Place: Complete] = [:]
    /// Whose files may go at any time, and which are not reported as gone yet.
    var garbage: Set<AssetNumber> = []
    private var namedCount: [Place: Int] = [:]

    func isNamed(_ place: Place) -> Bool { self.namedCount[place, default: 0] > 0 }

    var namedPlaces: Set<Place> { Set(self.namedCount.filter { $0.value > 0 }.keys) }

    mutating func set(_ item: Item?, _ key: RecordKey, now: Int64) {
        let before = self.records[key]?.files ?? []
        self.records[key] = item
        let after = item?.files ?? []
        for file in before.subtracting(after) {
            let place = Place(database: key.database, file: file)
            self.namedCount[place, default: 0] -= 1
            self.complete[place]?.since = now
        }
        for file in after.subtracting(before) {
            self.namedCount[Place(database: key.database, file: file), default: 0] += 1
        }
    }

    /// Whether a save may name these files.
    func permits(_ files: Set<Int>, _ key: RecordKey, by requester: Requester) -> Bool {
        files.subtracting(self.records[key]?.files ?? []).allSatisfy { file in
            guard let complete = self.complete[Place(database: key.database, file: file)] else {
                return false
            }
            return requester.scope == .private || complete.senders.contains(requester.userRecordName!)
        }
    }

    mutating func began(_ files: [Int], _ places: [UploadStatus], by requester: Requester, now: Int64) {
        let user = requester.userRecordName!
        for (file, answer) in zip(files, places) {
            let place = Place(database: requester.database, file: file)
            let known = self.complete[place]
            let isThere =
                known.map { requester.scope == .private || $0.senders.contains(user) } ?? false
            switch answer {
            case .complete:
                #expect(isThere)
                self.complete[place]?.since = now
            case .incomplete(let number):
                #expect(!isThere)
                let begun = self.uploads[number]
                #expect(begun.map { $0.place == place && $0.user == user } ?? true)
                if begun == nil {
                    #expect(!self.uploads.values.contains { $0.place == place && $0.user == user })
                    #expect(!self.garbage.contains(number))
                }
                self.uploads[number] = Upload(place: place, user: user, since: now)
            }
        }
    }

    mutating func completed(_ number: AssetNumber, now: Int64) {
        guard let upload = self.uploads.removeValue(forKey: number) else { return }
        if var known = self.complete[upload.place] {
            known.senders.insert(upload.user)
            known.since = now
            self.complete[upload.place] = known
            self.garbage.insert(number)
        } else {
            self.complete[upload.place] = Complete(number: number, senders: [upload.user], since: now)
        }
    }

    mutating func abandoned(_ number: AssetNumber) {
        guard self.uploads.removeValue(forKey: number) != nil else { return }
        self.garbage.insert(number)
    }

    /// Holds removals against what is named, and forgets them.
    mutating func going(_ numbers: [AssetNumber], now: Int64, grace: Int64, _ place: Comment) {
        for number in numbers where !self.garbage.contains(number) {
            if let upload = self.uploads.removeValue(forKey: number) {
                #expect(upload.since + grace <= now, place)
            } else if let known = self.complete.first(where: { $0.value.number == number }) {
                #expect(!self.isNamed(known.key), "a named asset goes: \(place)")
                #expect(known.value.since + grace <= now, place)
                self.complete[known.key] = nil
            } else {
                Issue.record("a number that nobody knows of goes: \(place)")
            }
            self.garbage.insert(number)
        }
    }
}
