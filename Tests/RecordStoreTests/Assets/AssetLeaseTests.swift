import StorageContract
import Testing

@testable import RecordStore

struct AssetLeaseTests {
    private static func number(_ value: Int64) -> AssetNumber { AssetNumber(rawValue: value) }

    @Test func `an upload has a lease until each was given back`() {
        let leases = AssetLeases()
        leases.take([Self.number(1), Self.number(2)])
        leases.take([Self.number(1)])
        leases.release([Self.number(1), Self.number(2)])
        #expect(leases.numbers == [Self.number(1)])
        leases.release([Self.number(1), Self.number(3)])
        #expect(leases.numbers == [])
        leases.take([Self.number(3)])
        #expect(leases.numbers == [Self.number(3)])
    }

    @Test func `a request that is executed again has the leases of its last execution`() {
        let leases = AssetLeases()
        let grant = AssetLeases.Grant(leases)
        grant.take([.incomplete(Self.number(1)), .complete])
        grant.take([.incomplete(Self.number(2))])
        #expect(leases.numbers == [Self.number(2)])
        grant.takeBack()
        grant.takeBack()
        #expect(leases.numbers == [])
    }
}
