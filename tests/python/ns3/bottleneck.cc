// One bottleneck in ns-3: sender - router - receiver over point-to-point links, TCP flows or a UDP load, a queue disc at the router.
//
// The program prints one JSON object: counts and means from --warmup to --duration, and samples of the first flow. What a queue or a
// congestion control is set to comes as --set "ns3::Type::Attribute=value", any number of them with commas between.
//
// A device of ns-3 holds a packet of its own between the queue disc and the wire. Here the disc is stopped while the device
// sends, so that only the packet on the wire is out of the disc's sight, as at a port of elephan.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

// Mean over time of a count, from `from` on.
struct TimeMean
{
    double from = 0, sum = 0, last = 0, value = 0;

    void Set(uint32_t, uint32_t now)
    {
        Advance();
        value = now;
    }

    void Advance()
    {
        double t = Simulator::Now().GetSeconds();
        sum += value * (std::max(t, from) - std::max(last, from));
        last = t;
    }
};

struct Sojourn
{
    double from = 0, sum = 0;
    uint64_t count = 0;

    void Add(Time t)
    {
        if (Simulator::Now().GetSeconds() < from)
            return;
        sum += t.GetSeconds();
        count++;
    }
};

struct Counts
{
    uint64_t arrived = 0, dropped = 0, marked = 0;
};

struct Run
{
    double rate = 20e6, delay = 0.02, access = 1e9, duration = 60, warmup = 10, udp = 0, every = 0.05, stagger = 0.1;
    uint32_t flows = 1, packet = 1472, seed = 1;
    bool poisson = true;
    std::string queue = "ns3::FifoQueueDisc", set;

    Ptr<PointToPointNetDevice> port;
    Ptr<QueueDisc> disc;
    Ptr<Socket> datagrams;
    Ptr<ExponentialRandomVariable> gap;
    TimeMean waiting;
    Sojourn sojourn;
    std::vector<ApplicationContainer> sinks;
    std::vector<uint64_t> received, events;
    std::vector<TimeMean> window;
    uint64_t timeouts = 0, threshold = 0;
    Counts before;
    std::ostringstream samples;

    void Read(int argc, char** argv)
    {
        CommandLine line;
        line.AddValue("rate", "rate of the bottleneck, bit/s", rate);
        line.AddValue("delay", "its delay, s", delay);
        line.AddValue("access", "rate of the link before it, bit/s", access);
        line.AddValue("duration", "s", duration);
        line.AddValue("warmup", "s", warmup);
        line.AddValue("flows", "TCP flows without end", flows);
        line.AddValue("stagger", "time between their starts, s", stagger);
        line.AddValue("udp", "load of a UDP stream on the wire, bit/s", udp);
        line.AddValue("packet", "payload of its packets, B", packet);
        line.AddValue("poisson", "whether they come at random", poisson);
        line.AddValue("queue", "type of the queue disc", queue);
        line.AddValue("set", "defaults: Type::Attribute=value,...", set);
        line.AddValue("every", "time between samples, s", every);
        line.AddValue("seed", "seed", seed);
        line.Parse(argc, argv);
    }

    void Defaults()
    {
        // Runs of one seed are independent; neighbouring seeds are not. A random variable keeps the run that is set when it is made.
        RngSeedManager::SetRun(seed);
        gap = CreateObject<ExponentialRandomVariable>();
        Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
        Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(64u << 20));
        Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(64u << 20));
        Config::SetDefault("ns3::BulkSendApplication::SendSize", UintegerValue(1448));
        std::istringstream words(set);
        for (std::string word; std::getline(words, word, ',');)
        {
            size_t mark = word.find('=');
            Config::SetDefault(word.substr(0, mark), StringValue(word.substr(mark + 1)));
        }
    }

    NetDeviceContainer Link(Ptr<Node> a, Ptr<Node> b, double bps, double seconds, bool controlled)
    {
        PointToPointHelper link;
        if (!controlled)
            link.DisableFlowControl();
        link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(bps))));
        link.SetChannelAttribute("Delay", TimeValue(Seconds(seconds)));
        link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1000000p"));
        return link.Install(a, b);
    }

    void StopDisc(Ptr<const Packet>) { port->GetObject<NetDeviceQueueInterface>()->GetTxQueue(0)->Stop(); }

    void WakeDisc(Ptr<const Packet>) { port->GetObject<NetDeviceQueueInterface>()->GetTxQueue(0)->Wake(); }

    Ipv4Address Build(NodeContainer& nodes)
    {
        nodes.Create(3);
        InternetStackHelper stack;
        stack.SetIpv6StackInstall(false);
        stack.Install(nodes);
        NetDeviceContainer near = Link(nodes.Get(0), nodes.Get(1), access, 0, false);
        NetDeviceContainer far = Link(nodes.Get(1), nodes.Get(2), rate, delay, true);
        TrafficControlHelper control;
        control.SetRootQueueDisc(queue);
        disc = control.Install(far.Get(0)).Get(0);
        port = DynamicCast<PointToPointNetDevice>(far.Get(0));
        port->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&Run::StopDisc, this));
        port->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&Run::WakeDisc, this));
        Ipv4AddressHelper address("10.0.0.0", "255.255.255.0");
        address.Assign(near);
        address.NewNetwork();
        Ipv4InterfaceContainer ends = address.Assign(far);
        // The way back: no disc between the receiver's acknowledgements and the wire.
        Ptr<TrafficControlLayer> back = nodes.Get(2)->GetObject<TrafficControlLayer>();
        back->DeleteRootQueueDiscOnDevice(far.Get(1));
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
        waiting.from = sojourn.from = warmup;
        disc->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&TimeMean::Set, &waiting));
        disc->TraceConnectWithoutContext("SojournTime", MakeCallback(&Sojourn::Add, &sojourn));
        return ends.GetAddress(1);
    }

    void State(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t now)
    {
        if (Simulator::Now().GetSeconds() < warmup)
            return;
        if (now == TcpSocketState::CA_RECOVERY || now == TcpSocketState::CA_CWR)
            events[0]++;
        else if (now == TcpSocketState::CA_LOSS)
            timeouts++;
    }

    void Threshold(uint32_t, uint32_t now) { threshold = now; }

    void Watch(Ptr<BulkSendApplication> application, uint32_t flow)
    {
        Ptr<Socket> socket = application->GetSocket();
        socket->TraceConnectWithoutContext("CongestionWindow", MakeCallback(&TimeMean::Set, &window[flow]));
        if (flow > 0)
            return;
        socket->TraceConnectWithoutContext("SlowStartThreshold", MakeCallback(&Run::Threshold, this));
        socket->TraceConnectWithoutContext("CongState", MakeCallback(&Run::State, this));
    }

    void Datagram()
    {
        datagrams->Send(Create<Packet>(packet));
        double mean = (packet + 30) * 8 / udp;
        Simulator::Schedule(Seconds(poisson ? gap->GetValue(mean, 0) : mean), &Run::Datagram, this);
    }

    void Load(NodeContainer& nodes, Ipv4Address to)
    {
        window.resize(flows);
        events.resize(1);
        for (uint32_t flow = 0; flow < flows; flow++)
        {
            window[flow].from = warmup;
            InetSocketAddress place(to, 5000 + flow);
            PacketSinkHelper sink("ns3::TcpSocketFactory", place);
            sinks.push_back(sink.Install(nodes.Get(2)));
            BulkSendHelper bulk("ns3::TcpSocketFactory", place);
            ApplicationContainer sender = bulk.Install(nodes.Get(0));
            sender.Start(Seconds(flow * stagger));
            Simulator::Schedule(Seconds(flow * stagger) + NanoSeconds(1),
                                &Run::Watch,
                                this,
                                DynamicCast<BulkSendApplication>(sender.Get(0)),
                                flow);
        }
        if (udp > 0)
        {
            InetSocketAddress place(to, 4000);
            PacketSinkHelper sink("ns3::UdpSocketFactory", place);
            sinks.push_back(sink.Install(nodes.Get(2)));
            datagrams = Socket::CreateSocket(nodes.Get(0), UdpSocketFactory::GetTypeId());
            datagrams->Connect(place);
            Simulator::Schedule(Seconds(0), &Run::Datagram, this);
        }
        received.resize(sinks.size());
    }

    Counts Now() const
    {
        const QueueDisc::Stats& stats = disc->GetStats();
        return {stats.nTotalReceivedPackets, stats.nTotalDroppedPackets, stats.nTotalMarkedPackets};
    }

    void Warm()
    {
        before = Now();
        for (size_t i = 0; i < sinks.size(); i++)
            received[i] = DynamicCast<PacketSink>(sinks[i].Get(0))->GetTotalRx();
    }

    void Sample()
    {
        char row[160];
        std::snprintf(row, sizeof row, "%s[%.6f,%.1f,%lu,%u]", samples.tellp() > 0 ? "," : "", Simulator::Now().GetSeconds(),
                      flows > 0 ? window[0].value : 0.0, threshold, disc->GetNPackets());
        samples << row;
        Simulator::Schedule(Seconds(every), &Run::Sample, this);
    }

    void Print()
    {
        double measured = duration - warmup;
        waiting.Advance();
        Counts now = Now();
        std::printf("{\"arrived\":%lu,\"dropped\":%lu,\"marked\":%lu,\"queue_packets\":%.6f,\"sojourn_s\":%.9f,\"events\":%lu,"
                    "\"timeouts\":%lu,\"goodput_bps\":[",
                    now.arrived - before.arrived, now.dropped - before.dropped, now.marked - before.marked, waiting.sum / measured,
                    sojourn.sum / std::max<uint64_t>(1, sojourn.count), events[0], timeouts);
        for (size_t i = 0; i < sinks.size(); i++)
        {
            uint64_t all = DynamicCast<PacketSink>(sinks[i].Get(0))->GetTotalRx();
            std::printf("%s%.1f", i ? "," : "", (all - received[i]) * 8 / measured);
        }
        std::printf("],\"cwnd_bytes\":[");
        for (uint32_t i = 0; i < flows; i++)
        {
            window[i].Advance();
            std::printf("%s%.1f", i ? "," : "", window[i].sum / measured);
        }
        std::printf("],\"samples\":[%s]}\n", samples.str().c_str());
    }
};

int main(int argc, char** argv)
{
    Run run;
    run.Read(argc, argv);
    run.Defaults();
    NodeContainer nodes;
    Ipv4Address to = run.Build(nodes);
    run.Load(nodes, to);
    Simulator::Schedule(Seconds(run.warmup), &Run::Warm, &run);
    Simulator::Schedule(Seconds(run.every), &Run::Sample, &run);
    Simulator::Stop(Seconds(run.duration));
    Simulator::Run();
    run.Print();
    Simulator::Destroy();
}
