import Testing

@testable import tidemark_load

/// A follower of a feed whose pages are made up: losses, doubles and gaps are found, and nothing else.
@Suite
struct FollowedZoneTests {
    private typealias Found = ZoneComparison.Found
    private typealias KeyID = FollowedZone.KeyID

    /// Ten keys of a worker, all saved once, and a follower that begins then.
    private struct Scene {
        var table = KeyTable(worker: 3, plain: 10, special: 0)
        var zone: FollowedZone

        init() {
            var table = KeyTable(worker: 3, plain: 10, special: 0)
            for key in 0..<10 {
                _ = table.beginSave(key)
                table.ended(key, .written)
            }
            self.table = table
            self.zone = FollowedZone(
                "oak",
                reading: "follower 0",
                keyIDs: Set((0..<10).map { KeyID(worker: 3, key: $0) }),
                knowledge: [3: table.keys]
            )
        }

        var knowledge: FollowedZone.Knowledge { [3: self.table.keys] }

        /// Saves a key, and returns what a feed says of it.
        mutating func save(_ key: Int, _ fate: KeyTable.Fate = .written) -> ZoneComparison.Found {
            let version = self.table.beginSave(key)
            self.table.ended(key, fate)
            return Self.found(key, version)
        }

        mutating func delete(_ key: Int) -> ZoneComparison.Found {
            self.table.beginDelete(key)
            self.table.ended(key, .written)
            return Self.found(key, 0)
        }

        static func found(_ key: Int, _ version: UInt64?) -> ZoneComparison.Found {
            ZoneComparison.Found(name: KeyTable.recordName(key, of: 3), version: version)
        }

        /// Takes a last page that was requested when the writers knew what they know now.
        mutating func end(_ page: [ZoneComparison.Found] = []) -> [Violation] {
            self.zone.take(page) + self.zone.reachedEnd(asked: self.knowledge, now: self.knowledge)
        }
    }

    @Test
    func `a feed with every change once has no fault`() {
        var scene = Scene()
        #expect(scene.end() == [])
        for round in 0..<5 {
            var page = (0..<10).map { scene.save($0) }
            if round == 3 { page.append(scene.delete(4)) }
            // Of two saves between two pages the feed has the last one.
            _ = scene.save(7)
            page[7] = scene.save(7)
            #expect(scene.end(page) == [])
        }
    }

    @Test
    func `a change that the token has passed is unseen, and told of once`() throws {
        var scene = Scene()
        _ = scene.save(2)
        let later = scene.save(5)
        // As with positions from a sequence: 2 was visible after 5, at an earlier position.
        let violations = scene.end([later])
        let violation = try #require(violations.first)
        #expect(violations.count == 1)
        #expect(violation.kind == .unseen && violation.recordName == KeyTable.recordName(2, of: 3))
        #expect(violation.expected == "version 2" && violation.found == "version 1")
        #expect(violation.zone == "oak" && violation.reading == "follower 0")
        #expect(scene.end() == [])
        // And once more when the next change is passed over.
        _ = scene.save(2)
        #expect(scene.end().map(\.kind) == [.unseen])
    }

    @Test
    func `a deletion that the token has passed is unseen`() {
        var scene = Scene()
        _ = scene.delete(6)
        #expect(scene.end().map(\.kind) == [.unseen])
    }

    @Test
    func `a state that comes twice is doubled, and an earlier one is stale`() {
        var scene = Scene()
        let first = scene.save(1)
        #expect(scene.end([first]) == [])
        #expect(scene.end([first]).map(\.kind) == [.doubled])
        let second = scene.save(1)
        #expect(scene.end([second]) == [])
        #expect(scene.zone.take([first]).map(\.kind) == [.stale])
        // The state of the beginning counts as known.
        #expect(scene.zone.take([Scene.found(8, 1)]).map(\.kind) == [.doubled])
    }

    @Test
    func `records of nobody, and contents that nobody saved, are found`() {
        var scene = Scene()
        #expect(scene.zone.take([Found(name: "foreign", version: 1)]).map(\.kind) == [.unexpected])
        #expect(scene.zone.take([Scene.found(11, 1)]).map(\.kind) == [.unexpected])
        #expect(scene.zone.take([Scene.found(1, nil)]).map(\.kind) == [.spoilt])
    }

    @Test
    func `a lost save is unseen at the end, whatever came in between`() {
        var scene = Scene()
        let saved = scene.save(3)
        #expect(scene.end([saved]) == [])
        // Acknowledged, and gone with the primary.
        _ = scene.save(3)
        #expect(scene.end([]).map(\.found) == ["version 2"])
    }

    @Test
    func `what is being written need not have come, nor what was written since the page was asked for`() {
        var scene = Scene()
        _ = scene.table.beginSave(0)
        #expect(scene.end() == [])
        let asked = scene.knowledge
        scene.table.ended(0, .written)
        _ = scene.save(1)
        #expect(scene.zone.reachedEnd(asked: asked, now: scene.knowledge) == [])
        #expect(scene.end().map(\.kind) == [.unseen, .unseen])
    }

    @Test
    func `a save without an answer may come, or not`() {
        for comes in [true, false] {
            var scene = Scene()
            let uncertain = scene.save(9, .undecided)
            #expect(scene.end(comes ? [uncertain] : []) == [])
            #expect(scene.end() == [])
        }
    }

    @Test
    func `a snapshot after a token that expired has every record again`() {
        var scene = Scene()
        let changed = scene.save(4)
        #expect(scene.end([changed]) == [])
        scene.zone.restart()
        let all = (0..<10).map { Scene.found($0, $0 == 4 ? 2 : 1) }
        #expect(scene.end(all) == [])
        scene.zone.restart()
        #expect(scene.end(Array(all.dropLast())).map(\.kind) == [.unseen])
    }
}
