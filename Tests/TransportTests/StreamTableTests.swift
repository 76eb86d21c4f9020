import Testing
import Transport

struct StreamTableTests {
    @Test func `a table holds what a dictionary would, in order`() {
        var table = StreamTable<String>()
        var expected: [UInt32: String] = [:]
        // Opened in order, and once not; ended oldest first, newest first and in between.
        for stream in [1, 3, 5, 7, 9, 11, 2] as [UInt32] {
            table[stream] = "\(stream)"
            expected[stream] = "\(stream)"
        }
        table[5] = "new"
        expected[5] = "new"
        for ended in [1, 11, 5, 4, 13, 2, 3, 9, 7] as [UInt32] {
            #expect(table.count == expected.count && table.isEmpty == expected.isEmpty)
            #expect(table.values == expected.sorted { $0.key < $1.key }.map(\.value))
            for stream in 0...13 as ClosedRange<UInt32> { #expect(table[stream] == expected[stream]) }
            #expect(table.removeValue(of: ended) == expected.removeValue(forKey: ended))
        }
        #expect(table.isEmpty)
        table[1] = "again"
        table[1] = nil
        table[3] = nil
        #expect(table.isEmpty)
    }
}
