import RecordModel
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance
@testable import RecordStore

/// The rows of a declared table, which each index shows as its condition says.
@Suite(.timeLimit(.minutes(10)))
struct TableTests {
    private static let database = DatabaseID(rawValue: 1_000)
    private static let sizes: ClosedRange<Int64> = 1...12

    /// An asset that no unique index has yet: its hash has its number.
    private static func row(
        _ number: Int64,
        using random: inout some RandomNumberGenerator
    ) -> AssetRow {
        var row = AssetRow(
            database: self.database,
            sha256: [UInt8(number & 0xFF), UInt8(number >> 8)],
            size: Int64.random(in: self.sizes, using: &random),
            state: [.uploading, .complete, .going].randomElement(using: &random) ?? .going,
            uploader: Int64.random(in: 0...2, using: &random),
            sinceMilliseconds: Bool.random(using: &random) ? Int64.random(in: 0...3, using: &random) : nil
        )
        row.number = AssetNumber(rawValue: number)
        return row
    }

    @Test(arguments: EngineKind.allCases, 1...10 as ClosedRange<UInt64>)
    func `rows that are written, replaced and deleted are what each index finds`(
        kind: EngineKind,
        seed: UInt64
    ) async throws {
        let it = try EngineUnderTest(kind)
        try it.store.engine.administer { transaction in
            var random = SeededGenerator(seed: seed)
            var model: [Int64: AssetRow] = [:]
            for _ in 0..<400 {
                let number = Int64.random(in: 1...40, using: &random)
                if Int.random(in: 0..<4, using: &random) == 0 {
                    try transaction.delete(Self.row(number, using: &random))
                    model[number] = nil
                } else {
                    var row = model[number] ?? Self.row(number, using: &random)
                    // Usually some of the columns stay as they are.
                    let other = Self.row(number, using: &random)
                    if Bool.random(using: &random) { row.state = other.state }
                    if Bool.random(using: &random) { row.size = other.size }
                    if Bool.random(using: &random) { row.sinceMilliseconds = other.sinceMilliseconds }
                    try transaction.put(row)
                    model[number] = row
                }
            }
            let rows = model.values.sorted { $0.number.rawValue < $1.number.rawValue }
            #expect(try transaction.rows(RowRange(AssetRow.byKey)).map(\.values) == rows.map(\.values))
            for row in rows {
                let asset = (Self.database, row.sha256, row.size)
                #expect(
                    try transaction.row(AssetRow.complete, asset.0, asset.1, asset.2)?.number
                        == (row.state == .complete ? row.number : nil)
                )
                #expect(
                    try transaction.row(AssetRow.uploading, asset.0, asset.1, asset.2, row.uploader)?.number
                        == (row.state == .uploading ? row.number : nil)
                )
            }
            #expect(
                try transaction.rows(RowRange(AssetRow.going)).map(\.number)
                    == rows.filter { $0.state == .going }.map(\.number)
            )
            #expect(
                try transaction.rows(RowRange(AssetRow.unnamed)).compactMap(\.sinceMilliseconds)
                    == rows.compactMap(\.sinceMilliseconds).sorted()
            )
        }
        await it.store.shutdown()
    }
}
