import RecordModel
import StorageContract
import TestSupport
import Testing

@testable import RecordStore

/// Referrers of many records, read a page at a time.
struct ReferrerPagesTests {
    /// Referrers by target, as an engine reads them.
    private struct Rows {
        var referrers: [String: [String]] = [:]

        func read(_ targets: [String], behind name: String, limit: Int) -> [[Referrer]] {
            var lists: [[Referrer]] = []
            var left = limit
            for target in targets where left > 0 {
                let start = lists.isEmpty ? name : ""
                let found = (self.referrers[target] ?? []).filter { $0 > start }.prefix(left)
                left -= found.count
                lists.append(found.map { Referrer(name: $0, kinds: .deleteSelf) })
            }
            return lists
        }
    }

    /// All that the pages give, by target, and how many look-ups that takes.
    private func all(_ rows: Rows, of targets: [String]) throws -> (found: [[String]], reads: Int) {
        var pages = ReferrerPages(of: targets[...])
        var found: [[String]] = []
        var current: [String] = []
        var reads = 0
        let read: ReferrerPages.Read = { (targets, behind, limit) throws(StorageFailure) in
            #expect(targets.count <= ReferrerPages.targetsMax && !targets.isEmpty)
            return rows.read(targets, behind: behind, limit: limit)
        }
        while let parts = try pages.next(read) {
            reads += 1
            #expect(parts.dropLast().allSatisfy { $0.isLast })
            for part in parts {
                current += part.referrers.map(\.name)
                guard part.isLast else { continue }
                found.append(current)
                current = []
            }
        }
        #expect(current.isEmpty)
        return (found, reads)
    }

    private static func names(_ count: Int) -> [String] { (0..<count).map { "r\(10_000 + $0)" } }

    @Test(arguments: [0, 1, 255, 256, 257, 511, 512, 513])
    func `a target is read to its end, also at the bound of a page`(count: Int) throws {
        let rows = Rows(referrers: ["a": Self.names(count), "b": ["x"]])
        let (found, reads) = try self.all(rows, of: ["a", "b", "c"])
        #expect(found == [Self.names(count), ["x"], []])
        #expect(reads == (count + 1) / ReferrerPages.pageMax + 1)
    }

    @Test
    func `targets without referrers share a look-up`() throws {
        let (found, reads) = try self.all(Rows(), of: Self.names(130))
        #expect(found == Array(repeating: [], count: 130))
        #expect(reads == 3)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `whatever there is, everything is found once and in order`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var rows = Rows()
        let targets = (0..<Int.random(in: 1..<200, using: &generator)).map { "t\($0)" }
        for target in targets {
            let bound = Int.random(in: 0..<5, using: &generator) == 0 ? 700 : 6
            rows.referrers[target] = Self.names(Int.random(in: 0..<bound, using: &generator))
        }
        #expect(try self.all(rows, of: targets).found == targets.map { rows.referrers[$0] ?? [] })
    }
}
