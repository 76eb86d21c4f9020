import Foundation
import Testing

@testable import CloudKit

@Suite struct OperationSettingsTests {
    @Test func `a configuration has Apple's defaults`() {
        let configuration = CKOperation.Configuration()
        #expect(configuration.container == nil)
        #expect(configuration.qualityOfService == .default)
        #expect(configuration.allowsCellularAccess)
        #expect(!configuration.isLongLived)
        #expect(configuration.timeoutIntervalForRequest == 60)
        #expect(configuration.timeoutIntervalForResource == 604_800)
    }

    @Test func `what is set on the operation beats the group, which beats the default`() {
        let operation = CKFetchRecordsOperation()
        operation.group = CKOperationGroup()
        #expect(operation.timeoutIntervalForRequest == 60)
        operation.group?.defaultConfiguration.timeoutIntervalForRequest = 7
        #expect(operation.timeoutIntervalForRequest == 7)
        operation.configuration.timeoutIntervalForRequest = 60
        #expect(operation.timeoutIntervalForRequest == 60, "set, though to the default's value")
        operation.configuration.timeoutIntervalForRequest = 0
        #expect(operation.timeoutIntervalForRequest == 7, "0 is not set")
        #expect(operation.timeoutIntervalForResource == 604_800)
    }

    @Test func `a configuration is copied when set, and the copy knows what was not set`() {
        let operation = CKFetchRecordsOperation()
        operation.group = CKOperationGroup()
        operation.group?.defaultConfiguration.qualityOfService = .utility
        operation.group?.defaultConfiguration.timeoutIntervalForRequest = 7
        let configuration = CKOperation.Configuration()
        configuration.timeoutIntervalForRequest = 5
        operation.configuration = configuration
        configuration.timeoutIntervalForRequest = 6
        #expect(operation.timeoutIntervalForRequest == 5)
        #expect(operation.qualityOfService == .utility)
        operation.configuration = nil
        #expect(operation.configuration != nil)
        #expect(operation.timeoutIntervalForRequest == 7)
    }

    @Test func `quality of service of operation and configuration are one`() {
        let operation = CKFetchRecordsOperation()
        #expect(operation.qualityOfService == .default)
        operation.qualityOfService = .userInitiated
        #expect(operation.configuration.qualityOfService == .userInitiated)
        operation.configuration.qualityOfService = .background
        #expect(operation.qualityOfService == .background)
    }

    @Test func `the database's settings of configuredWith come after the group's`() {
        let container = CKContainer.unreachable()
        let configuration = CKOperation.Configuration()
        configuration.timeoutIntervalForRequest = 3
        configuration.timeoutIntervalForResource = 4
        let operation = CKFetchRecordsOperation()
        operation.group = CKOperationGroup()
        operation.group?.defaultConfiguration.timeoutIntervalForRequest = 7
        container.privateCloudDatabase.configuredWith(configuration: configuration) { database in
            #expect(database !== container.privateCloudDatabase)
            #expect(database.databaseScope == .private)
            operation.database = database
        }
        #expect(operation.timeoutIntervalForRequest == 7)
        #expect(operation.timeoutIntervalForResource == 4)
    }

    @Test(arguments: [
        (QualityOfService.userInteractive, 60, 10), (.userInitiated, 60, 10), (.default, 60, 10),
        (.utility, 604_800, 604_800), (.background, 604_800, 604_800),
    ])
    func `urgency decides how long silence lasts, and the wait for a connection`(
        quality: QualityOfService,
        silence: Int,
        connection: Int
    ) {
        let settings = OperationSettings(qualityOfService: quality)
        #expect(
            settings.timeouts
                == Timeouts(
                    request: .seconds(silence),
                    resource: .seconds(604_800),
                    connection: .seconds(connection)
                )
        )
    }

    @Test(arguments: [
        (0, Duration.seconds(604_800)), (-1, .seconds(366 * 86_400)), (-.infinity, .seconds(366 * 86_400)),
        (.nan, .seconds(604_800)), (90, .seconds(90)),
    ])
    func `a resource timeout of 0 is not set, and below it there is no limit`(
        seconds: TimeInterval,
        duration: Duration
    ) {
        #expect(OperationSettings(timeoutIntervalForResource: seconds).timeouts.resource == duration)
    }

    @Test(arguments: [
        (0, Duration.seconds(60)), (-1, .seconds(60)), (0.5, .milliseconds(500)), (1e-9, .milliseconds(1)),
        (.infinity, .seconds(366 * 86_400)), (.nan, .seconds(60)), (-.infinity, .seconds(60)),
    ])
    func `no number of seconds breaks anything`(seconds: TimeInterval, duration: Duration) {
        let settings = OperationSettings(
            timeoutIntervalForRequest: seconds,
            timeoutIntervalForResource: .infinity
        )
        #expect(settings.timeouts.request == duration)
    }

    @Test func `the request's time is at most the resource's`() {
        let settings = OperationSettings(timeoutIntervalForRequest: 60, timeoutIntervalForResource: 2)
        let two = Duration.seconds(2)
        #expect(settings.timeouts == Timeouts(request: two, resource: two, connection: two))
    }

    @Test func `a group survives archiving`() throws {
        let group = CKOperationGroup()
        group.name = "first upload"
        group.quantity = 12
        group.expectedSendSize = .tensOfMegabytes
        group.expectedReceiveSize = .kilobytes
        group.defaultConfiguration.timeoutIntervalForRequest = 5
        group.defaultConfiguration.isLongLived = true
        group.defaultConfiguration.qualityOfService = .utility
        let data = try NSKeyedArchiver.archivedData(withRootObject: group, requiringSecureCoding: true)
        let read = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: CKOperationGroup.self, from: data)
        )
        #expect(read.operationGroupID == group.operationGroupID)
        #expect(read.name == "first upload" && read.quantity == 12)
        #expect(read.expectedSendSize == .tensOfMegabytes && read.expectedReceiveSize == .kilobytes)
        let operation = CKFetchRecordsOperation()
        operation.group = read
        #expect(operation.timeoutIntervalForRequest == 5 && operation.isLongLived)
        #expect(operation.qualityOfService == .utility)
        #expect(operation.timeoutIntervalForResource == 604_800)
    }

    @Test func `groups and operations have IDs of their own`() {
        #expect(CKOperationGroup().operationGroupID != CKOperationGroup().operationGroupID)
        let operation = CKFetchRecordsOperation()
        #expect(operation.operationID == operation.operationID)
        #expect(operation.operationID != CKFetchRecordsOperation().operationID)
    }
}
