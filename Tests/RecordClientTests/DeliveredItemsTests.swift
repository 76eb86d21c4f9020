import Testing

@testable import RecordClient

@Suite struct DeliveredItemsTests {
    @Test(arguments: [UInt32(0), 1, 62, 63, 64, 65, 399, .max])
    func `an item is new once`(index: UInt32) {
        var delivered = DeliveredItems()
        #expect(delivered.isEmpty)
        let results = [delivered.insert(index), delivered.insert(index)]
        #expect(results == [true, false])
        #expect(!delivered.isEmpty)
        let isNeighbourNew = delivered.insert(index ^ 1)
        #expect(isNeighbourNew)
    }
}
