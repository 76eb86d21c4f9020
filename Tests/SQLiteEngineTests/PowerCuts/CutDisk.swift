import Foundation
import TestSupport

/// A call that changed a file, or made its changes durable, as `DiskJournal.c` noted it.
struct DiskOperation {
    enum Kind: UInt32 {
        case write = 1
        case truncate, sync, unlink
    }

    let kind: Kind
    let name: String
    /// Of a truncation the size.
    let offset: Int
    let bytes: ArraySlice<UInt8>
    /// Of a sync: what ended here in the journal is durable.
    let since: Int
    /// Where it ends in the journal.
    let end: Int

    static func read(_ journal: [UInt8]) throws -> [DiskOperation] {
        var operations: [DiskOperation] = []
        var at = 0
        func number(_ offset: Int, _ bytes: Int) -> Int {
            journal[at + offset..<at + offset + bytes].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        while at + 32 <= journal.count {
            let (nameBytes, count) = (number(4, 4), number(16, 8))
            let name = at + 32..<at + 32 + nameBytes
            let end = name.upperBound + count
            guard end <= journal.count, let kind = Kind(rawValue: UInt32(number(0, 4))) else {
                throw CocoaError(.fileReadCorruptFile)
            }
            operations.append(
                DiskOperation(
                    kind: kind,
                    name: String(decoding: journal[name], as: UTF8.self),
                    offset: number(8, 8),
                    bytes: journal[name.upperBound..<end],
                    since: number(24, 8),
                    end: end
                )
            )
            at = end
        }
        return operations
    }
}

/// What a disk has after a loss of power: all that was synced, and of the rest whatever it likes.
struct CutDisk {
    /// What becomes of writes that were not synced.
    enum Fate: CaseIterable {
        /// All are there, or none.
        case kept, dropped
        /// Some are there, in any order.
        case reordered
        /// Some sectors of some are there.
        case torn
    }

    private static let sectorBytes = 512

    /// The files before the first operation, by their names.
    let base: [String: [UInt8]]
    let operations: [DiskOperation]

    /// The files after so many operations; one that was removed is absent.
    func files(
        after count: Int,
        _ fate: Fate,
        _ generator: inout SeededGenerator
    ) -> [String: [UInt8]] {
        let done = self.operations[..<count]
        var files = self.base
        for name in Set(done.map(\.name)).union(self.base.keys).sorted() {
            var own = done.filter { $0.name == name }
            if let last = own.lastIndex(where: { $0.kind == .unlink }) {
                files[name] = nil
                own = Array(own[(last + 1)...])
            }
            let durable = own.filter { $0.kind == .sync }.map(\.since).max() ?? 0
            let changes = own.filter { $0.kind == .write || $0.kind == .truncate }
            for change in changes where change.end <= durable { Self.apply(change, to: &files[name]) }
            let pending = changes.filter { $0.end > durable }
            for change in Self.survivors(of: pending, fate, &generator) {
                Self.apply(change, to: &files[name])
            }
        }
        return files
    }

    private static func survivors(
        of pending: [DiskOperation],
        _ fate: Fate,
        _ generator: inout SeededGenerator
    ) -> [DiskOperation] {
        switch fate {
        case .kept: return pending
        case .dropped: return []
        case .reordered:
            return pending.filter { _ in Bool.random(using: &generator) }.shuffled(using: &generator)
        case .torn:
            var sectors: [DiskOperation] = []
            for change in pending {
                guard change.kind == .write else {
                    if Bool.random(using: &generator) { sectors.append(change) }
                    continue
                }
                var at = 0
                while at < change.bytes.count {
                    let offset = change.offset + at
                    let count = min(Self.sectorBytes - offset % Self.sectorBytes, change.bytes.count - at)
                    let start = change.bytes.startIndex + at
                    at += count
                    guard Bool.random(using: &generator) else { continue }
                    sectors.append(
                        DiskOperation(
                            kind: .write,
                            name: change.name,
                            offset: offset,
                            bytes: change.bytes[start..<start + count],
                            since: 0,
                            end: change.end
                        )
                    )
                }
            }
            return sectors
        }
    }

    private static func apply(_ change: DiskOperation, to file: inout [UInt8]?) {
        var bytes = file ?? []
        file = nil
        let end = change.kind == .write ? change.offset + change.bytes.count : change.offset
        if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
        if change.kind == .write {
            bytes.replaceSubrange(change.offset..<end, with: change.bytes)
        } else {
            bytes.removeLast(bytes.count - end)
        }
        file = bytes
    }
}
